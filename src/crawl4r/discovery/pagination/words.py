"""The words of links to the next and the previous page of a list, in many languages.

Bars separate them. The lists hold only words for pages and plurals ("older posts"): "next post"
leads to another article.
"""

# ruff: noqa: RUF001 - marks that look like others are meant

from __future__ import annotations

NEXT = (
    "next|next page|older|older posts|older entries|older articles|older stories|older items|"
    "next posts|next results|more results|weiter|nächste|nächste seite|ältere|ältere beiträge|"
    "ältere artikel|vorwärts|suivant|suivante|suivants|page suivante|articles plus anciens|"
    "siguiente|siguientes|página siguiente|pagina siguiente|siguiente página|entradas antiguas|"
    "entradas anteriores|próximo|próxima|próxima página|seguinte|página seguinte|"
    "postagens mais antigas|successivo|successiva|avanti|pagina successiva|prossima|volgende|"
    "volgende pagina|oudere berichten|nästa|nästa sida|næste|næste side|neste|neste side|"
    "seuraava|seuraava sivu|dalej|następna|następny|następna strona|další|další stránka|"
    "další strana|ďalej|ďalšia|következő|következő oldal|următoarea|următorul|înainte|следующая|"
    "следующая страница|след|вперед|вперёд|дальше|далее|наступна|далі|следваща|επόμενη|επόμενο|"
    "επόμενη σελίδα|sonraki|sonraki sayfa|ileri|التالي|الصفحة التالية|הבא|לעמוד הבא|अगला|次|次へ|"
    "次のページ|下一页|下一頁|下页|下頁|后一页|다음|다음 페이지|ถัดไป|tiếp|tiếp theo|trang sau|"
    "berikutnya|selanjutnya|seterusnya"
)
PREVIOUS = (
    "previous|prev|previous page|prev page|newer|newer posts|newer entries|newer articles|"
    "newer stories|previous posts|previous results|zurück|vorige|vorherige|vorherige seite|neuere|"
    "neuere beiträge|précédent|précédente|précédents|page précédente|articles plus récents|"
    "anterior|anteriores|página anterior|entradas recientes|entradas siguientes|precedente|"
    "precedenti|pagina precedente|indietro|vorige pagina|nieuwere berichten|föregående|"
    "föregående sida|forrige|forrige side|edellinen|edellinen sivu|poprzednia|poprzedni|"
    "poprzednia strona|wstecz|předchozí|předchozí stránka|predchádzajúca|előző|előző oldal|"
    "anterioară|înapoi|предыдущая|предыдущая страница|пред|назад|попередня|предишна|προηγούμενη|"
    "προηγούμενο|önceki|önceki sayfa|geri|السابق|الصفحة السابقة|הקודם|पिछला|前|前へ|前のページ|"
    "上一页|上一頁|上页|上頁|前一页|이전|이전 페이지|ก่อนหน้า|trước|trang trước|sebelumnya"
)
FIRST = (
    "first|first page|erste|erste seite|première|primera|primeira|prima|eerste|первая|最初|首页|"
    "首頁|처음"
)
LAST = (
    "last|last page|letzte|letzte seite|dernière|última|ultima|laatste|последняя|最後|末页|末頁|"
    "尾页|마지막"
)

NEXT_ARROWS = ("»", "›", ">", "→", "⇒", "▶", "►", "❯", "⟩")
PREVIOUS_ARROWS = ("«", "‹", "<", "←", "⇐", "◀", "◄", "❮", "⟨")
EDGE_ARROWS = (">>", "››", "»»", ">|", "»|", "⏭", "<<", "‹‹", "««", "|<", "|«", "⏮")
AROUND = " \t\r\n\xa0.,:;()[]{}|/\\-–—…·•" + "".join(NEXT_ARROWS + PREVIOUS_ARROWS)
