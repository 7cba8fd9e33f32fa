"""What gives away a page that is not the page we asked for: data, and how to add to it.

A module and not a file of its own kind, for every process that judges pages would have to parse that.

To add a signature: take the shortest text that real articles on the matter would not have in that place,
begin with weight 0.6 and words 80, put a page of its kind into tests/content/verdict/verdict_pages.py, and run
`python -m bench.verdicts`, which tells what it caught and what it should not have.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from crawl4r.model import Verdict

# Where a signature may be looked for, all in lower case:
#   title     <title>; a line for the whole and one for each part between | - : and the like
#   heading   the first headings of the page, in lines as the title
#   text      what a reader sees of the main part (all of it, when that is next to nothing), with single
#             blanks
#   noscript  what stands in <noscript>
#   html      the bytes, as sent
#   header    "name: value" a line, without the cookies
#   cookie    "name=value" a line, of Set-Cookie
#   url       the page's own address
PLACES = ("title", "heading", "text", "noscript", "html", "header", "cookie", "url")


class SignatureEntry(Struct, frozen=True):
    """One signature. Any of its phrases or patterns will do.

    A verdict is reached at a weight of 1.0. Each place that matches adds the weight once, each further
    pattern a fifth of it. A page of at most 40 words adds 0.4 to a verdict that has 0.5 or more (30 words,
    when only its text speaks): so 0.6 decides on a very short page, and needs company on any other.
    """

    name: str  # unique; it is recorded beside the verdict when the signature spoke
    where: tuple[str, ...]
    weight: float
    # The most words of page text beside which it still counts. Text in links counts a quarter;
    # navigation, header and footer do not count.
    words: int
    # It must fill a line of the title or heading, not merely occur: "404 not found" but not "how to fix
    # a 404 not found error".
    whole: bool = False
    phrases: Sequence[str] = ()  # literal texts, with straight apostrophes
    # For RE2. Prefer `.*` and `[^.]*` to counted repetitions, which make the automaton large.
    patterns: Sequence[str] = ()


# By the verdict that they speak for.
SIGNATURES: dict[Verdict, list[SignatureEntry]] = {
    Verdict.BLOCKED: [
        SignatureEntry(
            "refusal-title",
            where=("title", "heading"),
            weight=0.7,
            words=160,
            whole=True,
            patterns=[
                "(?:sorry |error |http |code |status )*(?:403|1020|1015|1006|1007|1008|1009|1010|1012|429|451|406|418)(?: ?[-:] ?| )?(?:error|forbidden|access (?:is )?denied|access forbidden|too many requests|unavailable for legal reasons|not acceptable|rate limited|blocked)?",
                r"(?:error|http|http error|error code) (?:403|429|451|10[012]\d)",
                r"(?:error )?(?:403|429|451)\W+(?:\pL+ ){0,3}(?:forbidden|denied|requests|unavailable.*|blocked|limit.*|error)",
                "(?:the |your )?request (?:could not be satisfied|blocked|rejected|denied|was blocked.*|has been blocked.*)|access to .+ (?:is|was|has been) (?:blocked|denied|restricted|forbidden|limited).*",
                "(?:sorry |oops )?(?:your )?(?:access|request|connection|ip|ip address|visit)(?: to (?:this|the) (?:page|site|website|resource|server))? (?:(?:is|was|has been|have been|temporarily|permanently) )*(?:denied|blocked|forbidden|restricted|rejected|refused|limited|banned|suspended|prohibited)(?: .*)?",
                "(?:sorry |oops )*you (?:have been|are|were|'ve been) (?:temporarily |permanently )?(?:blocked|banned|denied|rate limited|being rate limited)(?: .*)?",
                "(?:(?:web ?)?page|site|web ?site|request|user|visitor|client|traffic|url|content|category|connection) (?:is |has been |was )?(?:blocked|banned|rejected|rate limited)(?: .*)?",
                "(?:forbidden|not acceptable|access prohibited|not authorized|unauthorized access|not allowed|permission denied|blocked(?: by .*)?|blocked request|security (?:check|verification|challenge|block|alert|violation|checkpoint)|firewall|web application firewall|waf(?: block.*)?)",
                "(?:too many requests|rate limit(?:ed|ing)?(?: exceeded| reached)?|request limit exceeded|slow down|you're going too fast|quota exceeded|limit exceeded|(?:hourly|daily|request|usage|download) limit (?:reached|exceeded))(?: .*)?",
                "(?:zugriff|zugang) (?:verweigert|gesperrt|nicht erlaubt|blockiert)|acc[eè]s (?:refus[eé]|interdit|bloqu[eé]|restreint)|acceso (?:denegado|bloqueado|prohibido|restringido)|acesso (?:negado|bloqueado)|accesso (?:negato|bloccato)|toegang (?:geweigerd|geblokkeerd)|доступ (?:запрещ[её]н|ограничен|заблокирован)|odmowa dostępu|brak dostępu|[åa]tkomst nekad|erişim engellendi|truy cập bị từ chối|アクセスが拒否されました|アクセス拒否|アクセスが制限されています|访问被拒绝|拒绝访问|访问受限|存取被拒|접근이? ?(?:거부|차단).*",
            ],
        ),
        SignatureEntry(
            "challenge-title",
            where=("title", "heading"),
            weight=0.8,
            words=160,
            whole=True,
            patterns=[
                "(?:please )?(?:verify|prove|confirm)(?:ing)? (?:that )?(?:you are|you're|if you are|whether you are) (?:a |not a )?(?:human|robot|bot|person|real).*",
                "(?:are you|you are|you're) (?:a |an |not a )?(?:human|robot|bot|real person)(?: or .*)?",
                "(?:human|bot|robot|browser|captcha|security|identity) (?:verification|check|challenge|confirmation|validation|detection|test|question)(?: (?:required|in progress|page))?",
                "(?:checking|verifying) (?:your|the|if|that) (?:browser|connection|site|you).*",
                "(?:please )?(?:complete|solve|pass) (?:the|this|a) (?:captcha|security check|challenge|puzzle).*",
                "(?:recaptcha|hcaptcha|captcha|robot check|bot check|bot detected|robot detected|are you human|access check|unusual traffic(?: detected| from .*)?|unusual activity(?: detected)?|suspicious activity(?: detected)?|automated (?:access|traffic|requests?)(?: detected)?|pardon our interruption|ddos-guard|ddos protection.*|bot verification|press & hold|press and hold|validate (?:your )?(?:request|access)|javascript challenge|anti-?bot.*|let's confirm you are human|let us know you're not a robot)",
                "(?:sicherheits|captcha-)(?:überprüfung|prüfung|abfrage)|(?:sind sie|bist du) (?:ein )?(?:mensch|roboter)|sicherheitsüberprüfung.*|v[eé]rification (?:de s[eé]curit[eé]|humaine|requise|en cours)|[eê]tes-vous un (?:robot|humain)|verificaci[oó]n (?:de seguridad|humana|requerida)|verifica(?:ção)? de segurança|verifica di sicurezza|проверка (?:безопасности|браузера)|вы не робот|安全验证|人机验证|安全检查|ロボットではありません.*|セキュリティ(?:チェック|確認)",
            ],
        ),
        SignatureEntry(
            "moment-title",
            where=("title", "heading"),
            weight=0.5,
            words=120,
            whole=True,
            patterns=[
                "just a (?:moment|second)(?: please)?|one (?:more|last|quick)(?: step| check)|attention required|client challenge|challenge(?: page)?",
            ],
        ),
        SignatureEntry(
            "wait-title",
            where=("title", "heading"),
            weight=0.4,
            words=80,
            whole=True,
            patterns=[
                "(?:please )?wait(?: a moment)?|please wait.+|one (?:moment|second)(?: please)?|(?:un momento|einen moment|nur einen moment|un instant|um momento|een ogenblik)(?: bitte| por favor| s'il vous pla[iî]t)?|請稍候|请稍候|少々お待ちください|しばらくお待ちください|один момент|잠시만 기다려.*",
            ],
        ),
        SignatureEntry(
            "google-sorry-title",
            where=("title",),
            weight=0.4,
            words=200,
            whole=True,
            patterns=[
                "https?://.*",
            ],
        ),
        SignatureEntry(
            "refusal-words",
            where=("text",),
            weight=0.6,
            words=120,
            patterns=[
                "(?:don't|do not) have (?:the )?(?:permission|authorization|access)(?:s)? to (?:access|view|see|visit|open|use)",
                "(?:you|your (?:ip|access|request|connection|browser|address|network)[^.]*) (?:have|has|is|are|was|were|been|'ve)(?: been| temporarily| permanently| automatically)* (?:blocked|banned|denied|blacklisted|flagged|rate limited|rate-limited|restricted|throttled|suspended)",
                "access (?:to (?:this|the|our) [^.]* )?(?:is|was|has been) (?:temporarily |currently |permanently )?(?:denied|blocked|forbidden|restricted|limited|prohibited|disabled|not allowed)",
                "(?:blocked|stopped|denied|refused|rejected|prevented) (?:by|because of|due to|for) (?:our |the |a |an |your )?(?:security|firewall|waf|administrator|website owner|site owner|unusual|suspicious|network|malicious|automated|policy|protection|server)",
                "(?:this|the|your) (?:request|action|connection) (?:(?:you just|that you) [^.]*)?(?:has been|was|is|triggered|looks?|appears?|seems?)[^.]* (?:blocked|rejected|denied|refused|forbidden|the security|malicious|automated|suspicious|like (?:it|an automated))",
                "requested url was rejected|request blocked|(?:web ?site|site|page|content|url|domain) (?:has been|is|was) (?:blocked|banned|censored)|(?:policy|filter|firewall|administrator|proxy) (?:has )?(?:blocks|blocked|prohibits|restricts) (?:access|this)|in violation of your .* policy",
                r"access (?:denied|forbidden)\W+(?:you|your|this|the|contact|please|error|reference|incident|ray|ip)",
                "(?:security|protection|online attack|bot)[^.]* (?:service|system|solution|software|rules?) [^.]*(?:protect|block|trigger|attack)",
                "(?:banned|blocked) (?:your|the) (?:access|ip|country|asn|autonomous system)[^.]*",
                "(?:owner|administrator|operator) (?:of (?:this|the) (?:web ?site|site|page)[^.]*)?(?:has|have) (?:banned|blocked|denied|restricted)",
                r"forbidden\W+(?:you|access|request|nginx|this)",
                "(?:contact|email|notify) the (?:site|website|server) (?:owner|admin|administrator)[^.]*(?:block|access|unblock|let them know)",
                "if you (?:believe|think|feel) (?:that )?(?:this|you|your)[^.]*(?:error|mistake|incorrect|block|wrong|legitimate)",
            ],
        ),
        SignatureEntry(
            "rate-limit-words",
            where=("text",),
            weight=0.7,
            words=100,
            patterns=[
                "too many (?:requests|attempts|page views|hits|queries|searches)",
                "rate[- ]limit(?:s|ed|ing)? (?:has been |was |is |been )?(?:exceeded|reached|hit|in effect|applied|for)",
                "(?:exceed(?:ed|ing)?|reached|hit|over) (?:the|your|our|a|its) (?:[a-z]+ ){0,3}(?:rate|request|query|page view|download|crawl|api|traffic|bandwidth|quota|number of requests|limit)",
                "(?:sending|making|sent|made|received) (?:us )?(?:too many|a (?:large|high|lot)[^.]*|so many|an unusual (?:number|amount)[^.]*) ?requests",
                r"(?:slow down|try again (?:in|after) (?:a few|\d+|some) (?:seconds?|minutes?|hours?)|wait (?:a few|\d+|some) (?:seconds?|minutes?) (?:before|and))",
                "zu viele anfragen|trop de (?:requ[eê]tes|demandes)|demasiadas (?:solicitudes|peticiones)|muitas (?:solicita|requisi)|troppe richieste|te veel (?:verzoeken|aanvragen)|слишком много запросов|请求过于频繁|访问过于频繁|操作(?:太|过于)频繁|リクエストが多すぎ|アクセスが集中|요청이 너무 많",
            ],
        ),
        SignatureEntry(
            "human-check-words",
            where=("text",),
            weight=0.7,
            words=120,
            patterns=[
                "(?:verify|verifying|prove|confirm|make sure|ensure|check|checking|sure|know|show|whether|if) (?:us )?(?:that )?(?:you are|you're|your're|you are indeed|if you are) (?:a |an |not a |not an |really a |really )?(?:human|robot|bot|real|person|automated)",
                "(?:complete|solve|enter|pass|fill (?:in|out)|answer|finish) (?:the |this |a |an |following )*(?:captcha|security check|challenge|puzzle|verification|characters (?:you see|shown|in the image)|human verification|recaptcha)",
                "(?:checking|verifying|reviewing|validating|analyzing|analysing) (?:your|the security of your|if the site|that your|the site) (?:browser|connection|request|device|site)",
                "(?:your|the) (?:computer|network|ip|browser|device|connection|activity|behaviou?r)[^.]*(?:automated|unusual traffic|made us think|like a (?:bot|robot)|a bot|suspicious|robot)",
                "(?:detected|noticed|seen|seeing|received) (?:some )?(?:unusual|suspicious|abnormal|automated|malicious|strange|bot|high|excessive)[^.]* (?:traffic|activity|behaviou?r|requests|access|from)",
                "before (?:you|we) (?:can )?(?:continue|proceed|go on|let you in)|tick the (?:check)?box",
                "press (?:&|and) hold|press and hold the button|click and hold",
                "(?:i'm|i am) not a robot",
                "(?:needs to|need to|must|has to) (?:review|verify|check) the security of your connection",
                "(?:this process is automatic|ddos protection by|browser will redirect to your requested|you will be redirected (?:once|after|shortly|automatically)[^.]*(?:check|valid|verif|complete|browser|requested))",
                "(?:not a (?:bot|robot)|protect (?:itself|this (?:site|website)|our (?:site|website|users|systems))[^.]*(?:bots|attacks?|automated|malicious|abuse|spam|scrap))",
                "(?:automated|bot|robot|scraping|scripted) (?:access|traffic|queries|requests|activity|tools?|software)[^.]*(?:block|prohibit|not (?:permitted|allowed)|detect|denied|contact|violat)",
                "(?:mensch|roboter|kein (?:bot|roboter)) (?:sind|bist|handelt)|dass (?:sie|du) (?:ein mensch|kein (?:roboter|bot))|que vous (?:[eê]tes (?:un )?humain|n'[eê]tes pas un robot)|que (?:eres|es usted|usted es) (?:un )?(?:humano|ser humano)|que no eres un robot|que voc[eê] [eé] humano|che (?:tu )?(?:sei|non sei) (?:un )?(?:umano|robot)|что вы (?:не робот|человек)|(?:您|你)(?:不)?是(?:真人|人类|机器人)|请(?:完成|进行)(?:安全)?验证|ロボットでないこと|人間であることを|로봇이 아닙니다",
            ],
        ),
        SignatureEntry(
            "cookies-required",
            where=("text", "noscript"),
            weight=0.7,
            words=80,
            patterns=[
                "(?:enable|allow|accept|turn on|activate|switch on|permit) (?:[a-z]+ ){0,3}cookies (?:to (?:continue|proceed|access|view|use|visit)|in (?:your|the) (?:web )?browser|and (?:reload|refresh|try|java))",
                "(?:enable|allow|activate|turn on) (?:[a-z]+ ){0,2}javascript and (?:[a-z]+ )?cookies",
                "(?:cookies|your browser's cookies) (?:are|is|must be|need to be|have to be|appear to be|seem to be)(?: currently)? (?:disabled|required|enabled|blocked|turned o)",
                "(?:requires?|need|needs|must accept|without) (?:[a-z]+ ){0,3}cookies (?:to|enabled|in order|for|cannot|you)",
                "browser (?:does not|doesn't|is not|isn't|is blocking|has|must|needs to) (?:[a-z]+ ){0,3}cookies",
                "cookies (?:aktivieren|akzeptieren|zulassen),? um|(?:activer|accepter) les cookies|(?:active|habilite|habilitar|acepte) las cookies|включите (?:файлы )?cookie",
            ],
        ),
        SignatureEntry(
            "geo-block-words",
            where=("title", "heading", "text"),
            weight=0.8,
            words=110,
            patterns=[
                r"(?:not|n't|no longer|un)(?: currently)? ?(?:available|accessible|offered|supported|permitted|allowed|able to (?:serve|offer|provide|access))[^.]* (?:in|from|to|for|outside) (?:your|the|this|certain|users|visitors|people)? ?(?:[a-z]+ )?(?:country|region|location|area|territory|jurisdiction|european (?:union|economic area)|eu\b|eea\b)",
                "(?:your|this|these|certain|some|the) (?:country|region|location|territory|jurisdiction|geographic(?:al)? (?:location|region|area))[^.]*(?:is|are|has been|was) (?:not (?:supported|allowed|available|permitted)|blocked|restricted|denied|unsupported|banned)",
                "(?:access|content|video|service|website|site)[^.]*(?:blocked|restricted|denied|prohibited|unavailable|limited)[^.]* (?:in|from|to|for|based on) (?:your|certain|specific|some|this)[^.]*(?:country|countries|region|location|territor|geograph)",
                "(?:country|region|geographic|geo)[- ](?:block|restrict|limit)(?:ed|ion|ions|ing)? (?:apply|prevents?|in (?:place|effect)|by|access)",
                r"unavailable (?:for|due to) legal reasons|(?:gdpr|general data protection regulation)[^.]*(?:cannot|unable|not|can't|unavailable)|(?:cannot|unable to|can't|not able to) (?:grant|provide|give|offer|allow) access[^.]*(?:european|eu\b|gdpr|country|region|time)",
                "(?:in ihrem|in deinem) land nicht verf[uü]gbar|pas disponible dans votre (?:pays|r[eé]gion)|no (?:est[aá] )?disponible en (?:su|tu) (?:pa[ií]s|regi[oó]n)|недоступ[а-я]+ в вашей стране|您所在的(?:国家|地区)|お住まいの(?:国|地域)では",
            ],
        ),
        SignatureEntry(
            "incident-number",
            where=("text",),
            weight=0.5,
            words=130,
            patterns=[
                r"(?:reference|incident|support|event|block|request|ray|trace|transaction|case|error)(?: id| number| code| no\.?| #)?\s?(?:is|:|#|=)+ ?#?(?:[0-9a-f][0-9a-f.:-]{9,}|[a-z0-9]*\d[a-z0-9.:_-]{7,})",
                r"(?:your|client|user|visitor) ip(?: address)?(?: is|:| was)* ?(?:\d{1,3}\.){3}\d{1,3}|your ip(?: address)?: ",
                "cloudflare ray id|performance & security by",
            ],
        ),
        SignatureEntry(
            "cloudflare-challenge",
            where=("html",),
            weight=1.0,
            words=90,
            patterns=[
                "_cf_chl_opt|cf-chl-|/cdn-cgi/l/chk_|cf_chl_(?:opt|prog|rt_tk|f_tk)|id=[\"']?(?:challenge-form|challenge-running|challenge-stage|challenge-error-text|cf-challenge|cf-please-wait|trk_jschal)|/cdn-cgi/challenge-platform/(?:h/[a-z]/)?orchestrate|jschl[-_](?:vc|answer)",
            ],
        ),
        SignatureEntry(
            "cloudflare-error",
            where=("html",),
            weight=0.6,
            words=160,
            patterns=[
                r"""id=["']?cf-(?:error-details|wrapper|details-wrapper)|cf-error-(?:code|type)|class=["']?[^"'>]{0,40}cf-(?:subheadline|alert|captcha)|cf\.errors\.css|/cdn-cgi/styles/""",
            ],
        ),
        SignatureEntry(
            "imperva",
            where=("html",),
            weight=1.0,
            words=60,
            patterns=[
                r"""_incapsula_resource|incapsula incident id|powered by (?:<a[^>]{0,80}>)?incapsula|imperva\.com/(?:why|error)|id=["']?main-iframe["']?[^>]{0,200}incap|/_incapsula""",
            ],
        ),
        SignatureEntry(
            "datadome",
            where=("html",),
            weight=1.0,
            words=60,
            patterns=[
                r"""captcha-delivery\.com|geo\.captcha|dd=\{["']?(?:rt|cid|hsh)|var dd ?= ?\{|interstitial\.datadome|datadome\.co/captcha""",
            ],
        ),
        SignatureEntry(
            "perimeterx",
            where=("html",),
            weight=1.0,
            words=90,
            patterns=[
                r"""id=["']?px-captcha|window\._px(?:appid|vid|uuid|hostprefix|jsclientsrc|captcha)|captcha\.px-c(?:dn|loud)\.net|perimeterx|_pxmonitorabr|px-cloud\.net|humansecurity\.com""",
            ],
        ),
        SignatureEntry(
            "aws-waf",
            where=("html",),
            weight=1.0,
            words=60,
            patterns=[
                r"""awswafcookiedomainlist|awswafintegration|gokuprops|token\.awswaf\.com|captcha\.awswaf|awswafcaptcha|aws-waf-token|id=["']?captcha-container["']?""",
            ],
        ),
        SignatureEntry(
            "sucuri",
            where=("html",),
            weight=1.0,
            words=140,
            patterns=[
                r"sucuri website firewall|sucuri_cloudproxy_js|sucuri\.net/(?:privacy|firewall)|cloudproxy\.sucuri|sucuri cloudproxy|access denied - sucuri",
            ],
        ),
        SignatureEntry(
            "ddos-guard",
            where=("html",),
            weight=1.0,
            words=80,
            patterns=[
                r"/\.well-known/ddos-guard/|check\.ddos-guard\.net|ddg-(?:captcha|l10n)|data-ddg",
            ],
        ),
        SignatureEntry(
            "akamai",
            where=("html",),
            weight=0.7,
            words=100,
            patterns=[
                r"errors\.edgesuite\.net|reference&#32;&#35;|reference #\d+\.[0-9a-f]|/_sec/(?:cp_challenge|verify)|sec-if-cpt|bm-verify|akam/\d+/pixel_|sec_chlge|behavioral-content",
            ],
        ),
        SignatureEntry(
            "other-challenge-vendor",
            where=("html",),
            weight=0.8,
            words=80,
            patterns=[
                r"""/_fs-ch-|kpsdk|/149e9513-01fa-4fb0-aad4-566afd725d1b/|kasada|ips\.js\?|distil_(?:r_captcha|identify|referrer)|distilcaptchaform|/distil_|id=["']?distil|reblaze|rbzns|winsocks|window\.rbzreqid|shape(?:security)?\.com/challenge|arkoselabs\.com|funcaptcha|geetest\.(?:com|js)|gt_captcha|friendlycaptcha|frc-captcha|mtcaptcha|botguard|anubis_(?:challenge|version)|/\.within\.website/x/cmd/anubis|go-away|haproxy-protection|crowdsec|wordfence|wfblocked|generated by wordfence|bunny-shield|stackpath|sbbi\b|vercel security checkpoint|/\.well-known/vercel/security|antibot|imunify360|i360|bitninja|litespeed.{0,30}recaptcha|recaptcha.{0,30}litespeed|safeline|腾讯云.{0,10}waf|tencentwaf|acw_sc__v2|aliyun.{0,20}waf|yundun|baffinbay|nsfocus|mod_?security|f5 (?:networks|asm)|/tspd/|bobcmn|radware|perfdrive\.com|shieldsquare|netacea|queue-it\.net""",
            ],
        ),
        SignatureEntry(
            "captcha-widget",
            where=("html",),
            weight=0.5,
            words=70,
            patterns=[
                r"""class=["']?[^"'>]{0,60}(?:g-recaptcha|h-captcha|cf-turnstile)|challenges\.cloudflare\.com/turnstile|recaptcha/(?:api|api2|enterprise)[./]|(?:js\.)?hcaptcha\.com/1/api|id=["']?captcha(?:[-_](?:form|box|image|input))?["' >]|name=["']?captcha|/captcha[./?"]|captcha\.(?:png|jpg|gif|php|js)""",
            ],
        ),
        SignatureEntry(
            "captcha-form",
            where=("html",),
            weight=0.6,
            words=60,
            patterns=[
                r"<form[^>]{0,300}(?:captcha|challenge|\bverify|unblock|/sorry/)",
            ],
        ),
        SignatureEntry(
            "block-page-words",
            where=("html",),
            weight=0.5,
            words=60,
            patterns=[
                r"""<code>accessdenied</code>|class=["'][^"'>]{0,40}(?:block-?page|access-?denied|blocked-|captcha-page|security-check)|id=["']?(?:block-?page|access-?denied|blocked)\b""",
            ],
        ),
        SignatureEntry(
            "s3-access-denied",
            where=("html",),
            weight=1.0,
            words=30,
            patterns=[
                "<code>accessdenied</code>",
            ],
        ),
        SignatureEntry(
            "sorry-address",
            where=("url",),
            weight=0.6,
            words=150,
            patterns=[
                "/sorry/(?:index)?|/cdn-cgi/(?:challenge|l/)|[/.?&=_-](?:captcha|recaptcha|challenge|blocked|access[-_]?denied|forbidden|validatecaptcha|distil|robot-?check|unusual-?traffic|ratelimit|rate-limit)(?:[/?.&=_-]|$)",
            ],
        ),
        SignatureEntry(
            "challenge-header",
            where=("header",),
            weight=1.5,
            words=1000,
            patterns=[
                "(?m)^cf-mitigated: challenge|^x-amzn-waf-action: |^x-sucuri-block: |^x-dd-b: [12]|^x-px-block",
            ],
        ),
        SignatureEntry(
            "protection-header",
            where=("header",),
            weight=0.2,
            words=60,
            patterns=[
                "(?m)^cf-ray: |^x-datadome|^x-iinfo: |^x-cdn: (?:incapsula|imperva)|^server: (?:akamaighost|ddos-guard|sucuri|cloudflare|awselb|qrator|yunjiasu)|^x-sucuri-|^x-px|^x-akamai|^x-kpsdk|^x-distil",
            ],
        ),
        SignatureEntry(
            "retry-after-header",
            where=("header",),
            weight=0.3,
            words=60,
            patterns=[
                r"(?m)^retry-after: |^x-ratelimit-remaining: 0\b",
            ],
        ),
        SignatureEntry(
            "protection-cookie",
            where=("cookie",),
            weight=0.2,
            words=60,
            patterns=[
                "(?m)^(?:cf_chl_|__cf_bm|cf_clearance|datadome|_px|px|incap_ses|visid_incap|nlbi_|ak_bmsc|bm_sz|_abck|aws-waf-token|__ddg|ddg|sucuri|rbz|kp_uid|acw_tc|ts0|reese84|bot)",
            ],
        ),
    ],
    Verdict.NEEDS_BROWSER: [
        SignatureEntry(
            "javascript-asked-for",
            where=("text",),
            weight=0.7,
            words=55,
            patterns=[
                r"(?:enable|activate|turn on|switch on|allow|reactivate|re-enable) (?:[a-z]+ ){0,2}(?:javascript|java script|scripting|scripts)\b",
                "(?:javascript|java script)[^.]* (?:is|be|are|been|seems|appears|was)[^.]* (?:disabled|required|enabled|needed|not (?:enabled|supported|available|active)|turned off|off|necessary|switched off)",
                r"(?:requires?|needs?|relies on|depends on|works? (?:best )?(?:with|only)|(?:work|run|function|used?|viewed|displayed) (?:[a-z]+ ){0,2}without) (?:[a-z]+ ){0,4}javascript\b|without javascript",
                r"javascript (?:required|disabled|needed|must|to (?:run|use|view|continue|work)|app\b)",
                "(?:aktivier[a-z]*|einschalten)[^.]* javascript|javascript[^.]*(?:aktivier|deaktiviert|ben[oö]tigt|erforderlich|einschalten|eingeschaltet)|(?:activer|activez|activ[eé])[^.]* javascript|javascript[^.]*(?:d[eé]sactiv[eé]|requis|n[eé]cessaire|activ[eé])|(?:activ[ae]r?|habilit[ae]r?|habilitado)[^.]* javascript|javascript[^.]*(?:desactivado|necesario|habilitado|activado|ativado|necess[aá]rio|desabilitado)|abilita[a-z]*[^.]* javascript|javascript[^.]*(?:abilitato|disabilitato|richiesto)|(?:включит[а-я]*|включен|нужен|необходим|требуется)[^.]* javascript|javascript[^.]*(?:включ|отключ|необходим|требует)|javascript ?(?:を(?:有効|オン)|が(?:無効|必要))|(?:启用|开启|啟用|打开|需要) ?(?:您的)?(?:浏览器的?)? ?javascript|javascript ?(?:已被?禁用|未启用|支持)|자바스크립트|javascript[^.]*(?:활성화|사용)|(?:schakel|zet)[^.]* javascript|javascript[^.]*(?:ingeschakeld|uitgeschakeld|włącz|wyłączon|wymaga)|włącz[^.]* javascript",
                "(?:your|this) browser (?:is (?:not supported|unsupported|outdated|too old)|does not support|doesn't support|must support)",
            ],
        ),
        SignatureEntry(
            "javascript-asked-for-in-noscript",
            where=("noscript",),
            weight=0.7,
            words=30,
            patterns=[
                r"(?:enable|activate|turn on|switch on|allow|reactivate|re-enable) (?:[a-z]+ ){0,2}(?:javascript|java script|scripting|scripts)\b",
                "(?:javascript|java script)[^.]* (?:is|be|are|been|seems|appears|was)[^.]* (?:disabled|required|enabled|needed|not (?:enabled|supported|available|active)|turned off|off|necessary|switched off)",
                r"(?:requires?|needs?|relies on|depends on|works? (?:best )?(?:with|only)|(?:work|run|function|used?|viewed|displayed) (?:[a-z]+ ){0,2}without) (?:[a-z]+ ){0,4}javascript\b|without javascript",
                r"javascript (?:required|disabled|needed|must|to (?:run|use|view|continue|work)|app\b)",
                "(?:aktivier[a-z]*|einschalten)[^.]* javascript|javascript[^.]*(?:aktivier|deaktiviert|ben[oö]tigt|erforderlich|einschalten|eingeschaltet)|(?:activer|activez|activ[eé])[^.]* javascript|javascript[^.]*(?:d[eé]sactiv[eé]|requis|n[eé]cessaire|activ[eé])|(?:activ[ae]r?|habilit[ae]r?|habilitado)[^.]* javascript|javascript[^.]*(?:desactivado|necesario|habilitado|activado|ativado|necess[aá]rio|desabilitado)|abilita[a-z]*[^.]* javascript|javascript[^.]*(?:abilitato|disabilitato|richiesto)|(?:включит[а-я]*|включен|нужен|необходим|требуется)[^.]* javascript|javascript[^.]*(?:включ|отключ|необходим|требует)|javascript ?(?:を(?:有効|オン)|が(?:無効|必要))|(?:启用|开启|啟用|打开|需要) ?(?:您的)?(?:浏览器的?)? ?javascript|javascript ?(?:已被?禁用|未启用|支持)|자바스크립트|javascript[^.]*(?:활성화|사용)|(?:schakel|zet)[^.]* javascript|javascript[^.]*(?:ingeschakeld|uitgeschakeld|włącz|wyłączon|wymaga)|włącz[^.]* javascript",
                "(?:your|this) browser (?:is (?:not supported|unsupported|outdated|too old)|does not support|doesn't support|must support)",
            ],
        ),
        SignatureEntry(
            "loading-words",
            where=("text", "title"),
            weight=0.5,
            words=14,
            patterns=[
                r"(?:^| )(?:loading|initiali[sz]ing|starting|preparing|fetching|redirecting|bootstrapping|please wait|one moment|just a sec|hang on|hold on|getting things ready|wird geladen|l[aä]dt|laden|lade|bitte warten|chargement|veuillez patienter|cargando|espere|carregando|aguarde|caricamento|attendere|загрузка|подождите|loading\.+)(?:[^\pL]|$)|読み込み中|ロード中|お待ちください|加载中|正在加载|載入中|로딩|불러오는 중",
            ],
        ),
        SignatureEntry(
            "app-framework",
            where=("html",),
            weight=0.3,
            words=14,
            patterns=[
                r"""/static/js/(?:main|bundle)|/(?:main|app|bundle|vendor|runtime|polyfills|index)[.-][0-9a-z_-]{6,}\.m?js|/_next/static|/_nuxt/|type=["']?module|ng-version|ng-app|data-reactroot|webpackjsonp|__initial_state__|flutter(?:_bootstrap)?\.js|_framework/blazor|main\.dart\.js|vite|bundle\.js|app\.js""",
            ],
        ),
    ],
    Verdict.LOGIN_WALL: [
        SignatureEntry(
            "login-title",
            where=("title", "heading"),
            weight=0.6,
            words=140,
            whole=True,
            patterns=[
                "(?:please |you (?:must|need to|have to) |member |members |user |customer |client |admin |administrator |staff |student |employee |partner |account |secure |wp |portal |webmail |subscriber |existing users? |welcome back )*(?:log ?-?in|log ?-?on|sign ?-?in|sign ?-?on|sso login)(?: or (?:register|sign ?up|create .*|join.*))?(?: (?:to|with|using|into|at|for|on) .+| page| required| form| here| now| portal| - .*| first)?",
                "(?:login|sign-?in|log-?in|authentication|authorization|registration|membership|subscription|account) (?:is )?(?:required|needed|necessary|page|form|gateway|service|portal)(?: .*)?",
                "(?:enter (?:your )?(?:password|credentials|email)|members? only|subscribers? only|restricted (?:area|content|access)|401(?: ?[-:]? ?(?:unauthorized|authorization required))?|unauthorized|authorization required|please (?:log|sign) in.*|create an account|join (?:to|now).*|welcome back|web login service|central authentication service|identity provider|my account|protected(?: page| content)?|password protected|password required|private (?:site|page|area|wiki|content)|shibboleth.*|working)",
                "(?:anmelden|anmeldung|einloggen|bitte (?:melden sie sich an|anmelden|einloggen)|login erforderlich|kundenlogin|mitgliederbereich|se connecter|connexion|connectez-vous.*|identification|authentification.*|identifiez-vous|inicia(?:r)? sesi[oó]n.*|acceder|iniciar sess[aã]o|entrar|fa[cç]a (?:o )?login.*|acesse sua conta|accedi|accesso|inloggen|aanmelden|logowanie|zaloguj si[eę].*|вход(?: на сайт| в систему| в аккаунт)?|войти|авторизация|logga in|log ind|logg inn|kirjaudu sis[aä]än|giri[sş] yap|đăng nhập|ログイン|サインイン|会員ログイン|登录|登入|用户登录|会员登录|请登录.*|로그인)",
            ],
        ),
        SignatureEntry(
            "login-words",
            where=("text",),
            weight=0.7,
            words=140,
            patterns=[
                r"(?:you )?(?:must|need to|have to|are required to|should) (?:first )?(?:be )?(?:logged|signed|log|sign|login|register(?:ed)?|subscribe)(?:[- ](?:in|into|on))?\b[^.]* (?:to|before|in order|for|first)",
                "(?:log|sign)[- ]?(?:in|on) (?:or (?:register|sign up|join|subscribe|create [^.]*) )?(?:to|for) (?:view|see|read|continue|access|proceed|your|the|unlock|start|get|watch|keep|use|download|full|manage|my|join)",
                "(?:authentication|authorization|login|a login|an account|registration) (?:is )?(?:needed|required|necessary)|(?:choose|select|find) your (?:institution|organi[sz]ation|identity provider)",
                r"(?:please|kindly) (?:log|sign|login|signin|logon|authenticate)[- ]?(?:in|on|into)?\b",
                "(?:only|exclusively|reserved|restricted) (?:available |accessible |visible |open )?(?:to|for) (?:registered|logged[- ]in|signed[- ]in|authenticated|authorized|premium|paying|our )? ?(?:members|users|subscribers|customers|employees|staff|students)",
                r"(?:session|login) (?:has )?(?:expired|timed out|ended)|(?:you are|you're) not (?:logged|signed) in|not a member\?|already (?:a |an |have an? )(?:member|subscriber|account|user|customer)|don't have an account|forgot(?:ten)? (?:your |my )?(?:password|username|passwort)|reset (?:your )?password|create (?:an|a free|a new) account|new (?:user|member|customer|here)\? |keep me (?:signed|logged) in|remember me|stay signed in",
                "(?:sign|log) ?in with (?:google|facebook|apple|microsoft|github|sso|your|email|saml|okta|twitter|linkedin)|continue with (?:google|facebook|apple|email|sso|microsoft)|(?:redirect|redirected|redirecting|taking|sending|forward)[^.]*(?:login|log in|sign[- ]in|identity provider|single sign-on|sso|authentication|authoriz)",
                "(?:sie m[uü]ssen|bitte) (?:[a-z]+ )?(?:sich )?(?:anmelden|einloggen|eingeloggt|angemeldet|melden)|passwort vergessen|vous devez (?:[eê]tre )?(?:vous )?connect|connectez-vous|mot de passe oubli[eé]|(?:debe|debes|tienes que) (?:iniciar sesi[oó]n|identificarte|registrarte)|inici[ae] sesi[oó]n para|olvid(?:ado|aste|[oó]) (?:su|tu|la) contrase[nñ]a|esqueceu (?:a|sua) senha|fa[cç]a login para|password dimenticata|accedi per|wachtwoord vergeten|(?:войдите|авторизуйтесь|необходимо войти|забыли пароль)|忘记密码|请(?:先)?登录|登录后|ログインしてください|パスワードを(?:お)?忘れ|ログインが必要|비밀번호|로그인이 필요",
            ],
        ),
        SignatureEntry(
            "paywall-words",
            where=("text", "heading"),
            weight=0.5,
            words=200,
            patterns=[
                "subscribe (?:now )?(?:to|and) (?:continue|keep|read|unlock|get|finish|access)[^.]*|(?:this|the rest of (?:this|the)) (?:article|content|story|post|page)[^.]*(?:is|are) (?:for|only|reserved|exclusive|available|locked|behind)[^.]*(?:subscriber|member|registered|paying|premium)|(?:free|complimentary) articles? (?:left|remaining|this month|limit)|(?:read|reached) your (?:free )?(?:article )?limit|already (?:a )?subscri(?:ber|bed)|continue reading (?:with|by|this article)|(?:weiterlesen|jetzt) (?:mit|abonn)[a-z]*|r[eé]serv[eé] aux abonn[eé]s|solo para suscriptores|exclusivo para (?:suscriptores|assinantes)|nur f[uü]r abonnenten|会員限定|有料会員",
            ],
        ),
        SignatureEntry(
            "single-sign-on",
            where=("html",),
            weight=1.0,
            words=40,
            patterns=[
                r"""name=["']?(?:samlrequest|samlresponse|relaystate|wresult|wctx)|name=["']?(?:shib_idp|j_security|execution)[^>]{0,60}|/(?:idp|adfs)/(?:profile|ls)|/cas/login|login\.microsoftonline\.com/[^"' ]{0,80}(?:authorize|saml)|accounts\.google\.com/(?:o/oauth2|servicelogin|signin)|/oauth2?/(?:v\d/)?authorize\?|/openid-connect/auth|okta\.com/(?:app|login|oauth2)|auth0\.com/(?:authorize|login)|/saml2?/(?:sso|login|idp)|j_spring_security_check|j_security_check""",
            ],
        ),
        SignatureEntry(
            "refresh-to-login",
            where=("html",),
            weight=1.0,
            words=30,
            patterns=[
                r"""http-equiv=["']?refresh["']?[^>]{0,80}url=[^>]{0,120}(?:login|\bsign-?in|\bsso\b|saml|oauth|/auth\b|adfs|/cas/)""",
                r"""location(?:\.href|\.replace|\.assign)? ?(?:=|\() ?["'][^"']{0,120}(?:login|\bsign-?in|\bsso\b|saml|oauth|/auth/|adfs)""",
            ],
        ),
        SignatureEntry(
            "login-address",
            where=("url",),
            weight=0.4,
            words=140,
            patterns=[
                "[/.](?:log-?in|sign-?in|logon|signon|wp-login|sso|saml2?|oauth2?|adfs|idp|cas|authenticate|authorize|account/login|users/sign_in|sessions?/new|auth|identity)(?:[/?.&#;]|$)",
            ],
        ),
        SignatureEntry(
            "asks-for-credentials-header",
            where=("header",),
            weight=0.7,
            words=120,
            patterns=[
                "(?m)^www-authenticate: ",
            ],
        ),
    ],
    Verdict.PARKED: [
        SignatureEntry(
            "for-sale-title",
            where=("title", "heading"),
            weight=0.7,
            words=220,
            patterns=[
                r"(?:this |the |premium )?(?:domain|domain name|web ?site|name|[a-z0-9-]+\.[a-z]{2,12})(?: name)?(?: [a-z0-9-]+\.[a-z.]+)? (?:is |may be |might be |could be )?(?:for sale|available(?: for (?:sale|purchase))?$|parked|expired|zu verkaufen|[aà] vendre|en venta|in vendita|te koop|продается|продаётся)\b",
                r"(?:^|[^\pL])(?:buy|get|own|acquire|purchase) this domain|domain (?:has )?(?:expired|parking|parked)|parked domain|parked (?:free|at|by|with|page)|sedo ?(?:gmbh|domain parking)?$|hugedomains|dan\.com|afternic|(?:域名|ドメイン).{0,12}(?:出售|售|转让|販売|期限)|domain (?:steht|zum) (?:verkauf|kaufen)|domaine [aà] vendre|dominio en venta|domain te koop",
            ],
        ),
        SignatureEntry(
            "sponsored-listings",
            where=("text",),
            weight=1.0,
            words=200,
            patterns=[
                "sponsored listings displayed|neither the (?:service provider|domain owner|parking)|domain owner (?:maintain|and)",
            ],
        ),
        SignatureEntry(
            "for-sale-words",
            where=("text",),
            weight=0.7,
            words=160,
            patterns=[
                r"\b[a-z0-9-]+\.(?:[a-z]{2,4}|online|site|shop|store) (?:is|has been|was|may be) (?:currently |now |just |recently )?(?:registered|parked|for sale|available|reserved|hosted|coming soon|offered)",
                "(?:this|the) (?:premium )?(?:domain|domain name|web address|url|website)(?: name)?(?: [a-z0-9.-]+){0,3} (?:is|may be|might be|could be|are) (?:currently |now |also )?(?:for sale|available (?:for|to)|listed|parked|offered|up for sale|not (?:in use|connected|configured|pointing|linked)|on sale|registered (?:at|with|by|through|but))",
                "(?:buy|purchase|acquire|own|get|lease|make an offer (?:on|for)|interested in|inquire about|enquire about|backorder) this (?:premium )?(?:domain|name|website)",
                "(?:domain|page|site|name) (?:is |has been |was )?parked (?:free|for free|by|at|with|courtesy|here|on|using)|parked (?:free|courtesy)|domain parking|free parking|parking page|parked (?:page|domain)",
                "(?:domain|registration|website|hosting)[^.]* (?:has |is |was )?(?:just |recently )?(?:been )?(?:expired|registered|suspended|not been renewed|pending (?:renewal|deletion)|lapsed)",
                "sponsored listings|(?:related|popular|top) (?:searches|links|categories)[^.]*(?:domain|privacy|legal|sponsored)|third party advertis|domain holder|(?:owner of|own) (?:this|the|a) domain",
                "(?:diese|die) domain (?:ist|steht|wird|wurde|k[oö]nnte)[^.]*(?:kaufen|verkauf|registriert|geparkt|erworben|konnektiert)|domain (?:kaufen|zu verkaufen)|ce (?:nom de )?domaine (?:est|a [eé]t[eé])[^.]*(?:vendre|vente|enregistr|r[eé]serv|expir)|este dominio (?:est[aá]|ha|puede)[^.]*(?:venta|registrado|aparcado|vencido|expirado|comprar)|(?:este|o) dom[ií]nio (?:est[aá]|foi)[^.]*(?:venda|registrado|estacionado)|questo dominio|deze domein(?:naam)? (?:is|staat)|(?:данный|этот) домен|домен [^.]*(?:продаётся|продается|припаркован|зарегистрирован|истек)|域名(?:正在)?(?:出售|转让|已过期|可)|このドメイン(?:は|名は|を)|(?:本|该)域名",
            ],
        ),
        SignatureEntry(
            "default-page-title",
            where=("title", "heading"),
            weight=1.0,
            words=420,
            whole=True,
            patterns=[
                "welcome to (?:nginx|openresty|tengine|caddy|centos|rocky linux|almalinux|xampp.*|lighttpd|iis.*|ispconfig|cyberpanel|froxlor)(?: (?:on|for) .*)?",
                r"(?:apache2?|nginx|iis|tomcat|lighttpd|caddy|web ?server|http server)(?: \pL+){0,3} (?:default|test) page(?: .*)?|test page for the (?:apache|nginx|http|web|ssl).*|http server test page.*|default web ?site page|iis windows server|iis ?(?:7|8|8\.5|10)(?:\.0)?|internet information services.*",
            ],
        ),
        SignatureEntry(
            "placeholder-title",
            where=("title", "heading"),
            weight=0.8,
            words=420,
            whole=True,
            patterns=[
                "welcome to (?:nginx|openresty|caddy|apache|tengine|centos|rocky linux|almalinux|fedora|debian|ubuntu|cpanel|plesk|ispconfig|directadmin|cyberpanel|xampp.*|wampserver|lighttpd|litespeed.*|iis.*|virtualmin|froxlor|your new (?:web ?site|site|server|account|home)|hostinger.*|the home of .+)(?: (?:on|for|web|server|test).*)?",
                r"(?:apache2?|apache http server|nginx|http server|caddy|lighttpd|tomcat|iis|centos|red hat|rhel|fedora|debian|ubuntu|ispconfig|plesk|cpanel|web ?server|web ?site|server|hosting|domain|domain name|powered by .+)(?: \pL+){0,4} (?:default|test|placeholder|welcome|parking|holding|setup)(?: \pL+)? ?(?:page|site|website)(?: .*)?",
                "(?:default|test|placeholder|parking|holding) (?:web ?)?(?:page|site|web ?site|home ?page|server)(?: (?:page|for|of|by|-) ?.*)?",
                r"default web ?site page|test page for .+|http server test page.*|.*test page.*powered by .+|(?:caddy |apache |nginx |it )works|your (?:web ?)?(?:server|site) is (?:working|ready|running|live).*|iis ?\d*(?:\.\d)?|iis windows(?: server)?|internet information services.*|windows server|apache tomcat(?:/[\d.]+)?|congratulations.*(?:caddy|site|website|server|installed|live|works|created|running).*|.*successfully (?:installed|deployed|created).*",
                "(?:(?:this|our|the|your|new|my|a) )*(?:web ?site|site|page|domain|home ?page|store)? ?(?:is |will be )?(?:coming soon|under construction|launching soon|opening soon|almost here|not (?:yet )?(?:published|configured|available yet|set up)(?: yet)?|being built|reserved|parked|in (?:construction|development))",
                "future home of .+|(?:this |your )?(?:account|website|site|web ?hosting|hosting account|domain) (?:has been |is |was )?(?:suspended|disabled|deactivated|expired|inactive)|site not (?:published|configured|installed)|no (?:web)?site (?:configured|is configured|here|found) ?.*|hosting (?:placeholder|account).*|domain (?:registered|reserved|not configured|default page).*|web ?site (?:placeholder|disabled|suspended|expired)|hello,? (?:this is|i'm) .*(?:server|nginx|apache)|hier entsteht .+|(?:diese )?(?:webseite|website|seite|domain) (?:ist )?(?:im aufbau|in k[uü]rze.*|reserviert.*|geparkt)|site en (?:construction|cours de.*)|sitio en construcci[oó]n|em constru[cç][aã]o|in costruzione|pr[oó]ximamente|сайт (?:находится )?в разработке|網站建設中|网站建设中|工事中|準備中",
            ],
        ),
        SignatureEntry(
            "placeholder-words",
            where=("text",),
            weight=0.6,
            words=260,
            patterns=[
                "if you (?:see|can see|can read|are seeing|are reading|are able to read) this page[^.]*(?:web ?server|server|site|installed|working|works)",
                r"(?:web ?server|server|nginx|apache|caddy|tomcat|software|site) (?:is |has been |was )?(?:successfully |properly |correctly |now )*(?:installed|set up|configured|running|working|serving)\b",
                "further configuration is required|default (?:welcome |web |index |home )?page (?:used|for|of|shown|that)|replace this (?:file|page)|(?:var/www|public_html|htdocs|wwwroot|inetpub|/usr/share/nginx)|used to test the (?:proper|correct) operation|you may now add content|upload (?:your|some|the) (?:own )?(?:web ?site|files|content|index)|no (?:content|index|web ?site|home ?page|site) (?:has (?:yet )?been |is |was )?(?:uploaded|published|configured|here yet|found at|at this (?:address|location))",
                "(?:web ?site|site|page|account|hosting|domain)[^.]* (?:has been|is|was|will be) (?:currently |temporarily )?(?:suspended|disabled|being (?:built|developed|set up)|under construction|coming soon|available (?:soon|shortly)|not (?:yet )?(?:been )?(?:published|configured|ready|set up|uploaded|installed|launched))",
                "(?:future home of|web ?site coming soon|placeholder (?:page|site)|(?:just|has|newly|recently) (?:been )?registered|web ?hosting (?:by|provider|account|control)|contact your (?:hosting|web ?host|provider|host)|hosting provider|control panel|are you the (?:site |website |domain )?owner|if you (?:are|'re) the (?:owner|administrator|site owner|webmaster|domain owner)|check back (?:soon|later|shortly)|we(?:'re| are) (?:launching|working on|building|coming|getting)[^.]*(?:site|soon|something|ready))",
            ],
        ),
        SignatureEntry(
            "parking-service",
            where=("html",),
            weight=1.0,
            words=140,
            patterns=[
                r"""sedoparking\.com|sedo\.com/(?:search|services|buy)|parkingcrew\.net|bodis\.com|parklogic|above\.com/(?:marketplace|park)|domainmarket\.com|hugedomains\.com|dan\.com/buy|afternic\.com|parking\.godaddy|/parking-lander|window\.location\.href ?= ?["']/lander|img1\.wsimg\.com/parking|lander_system|parking-?page|parked-content|namecheap\.com/(?:domains|parking)|parkingpage\.namecheap|dynadot\.com/(?:market|domain)|undeveloped\.com|d38psrni17bvxu|skenzo|trellian|cashparking|smartname|fabulous\.com|domainsponsor|oversee\.net|voodoo\.com|uniregistry|uniregistrar|porkbun\.com/(?:checkout|parked)|efty\.com|squadhelp|atom\.com/name|spaceship\.com/parking|caf\.js|google\.ads\.domains|adsense/domains|partner-dp-|data-adblockkey|tdrelay|registrar-?park""",
            ],
        ),
        SignatureEntry(
            "placeholder-marker",
            where=("html",),
            weight=0.5,
            words=160,
            patterns=[
                r'/cgi-sys/(?:defaultwebpage|suspendedpage)|iisstart|iis-85\.png|/icons/(?:ubuntu|openlogo|apache_pb|poweredby)|nginx\.org/?"|nginx\.com/?"|plesk\.com|cpanel\.(?:com|net)/\?utm|wsimg\.com|hostgator\.com/|hostinger\.[a-z]+/|bluehost\.com/',
            ],
        ),
        SignatureEntry(
            "parked-address",
            where=("url",),
            weight=0.6,
            words=140,
            patterns=[
                r"/(?:lander|parking|parked|defaultwebpage\.cgi|suspendedpage\.cgi|domain-for-sale)(?:[/?.]|$)",
            ],
        ),
    ],
    Verdict.ERROR_PAGE: [
        SignatureEntry(
            "error-title",
            where=("title", "heading"),
            weight=0.7,
            words=200,
            whole=True,
            patterns=[
                r"(?:http |server |status |error |code )*(?:400|402|405|408|409|413|414|50\d|52\d|530)(?: error)?(?: ?[-:(]? ?(?:internal(?: server)?(?: error)?|server error|bad (?:gateway|request)|(?:service )?(?:temporarily )?unavailable|gateway time-?out|request time-?out|method not allowed|web server is down|(?:an )?unknown error|connection timed out|not implemented|backend .*|origin .*|ssl .*|a timeout occurred|error|oops|sorry.*|something .*))?(?: error)?",
                r"(?:http |server )*(?:error|status) (?:50[0-4]|400)(?: ?[-:(]? ?(?:internal|server|bad|service|gateway|the|sorry|something|an?)\b.*)?",
                "(?:error )?(?:internal server error|bad gateway|service (?:is )?(?:temporarily )?unavailable|gateway time-?out|bad request|method not allowed|request time-?out|web server is down|origin is unreachable|connection timed out|host error|not implemented|server error.*|server is (?:busy|down|overloaded).*|(?:database|application|runtime|system|unexpected|critical|fatal|general|unknown|technical|internal|script|sql|php|connection|configuration|unhandled|compilation|parser|syntax|processing) (?:error|exception|failure|problem|difficulties)(?: .*)?)",
                r"(?:an? |sorry |oops )*(?:unexpected |unknown |internal |application |server |fatal |technical |processing )*(?:error|problem) (?:has |have |was |just )*(?:occurred|occured|happened|encountered|page|message|detected)(?: .*)?|errors?\W+(?:please )?try again.*|oops (?:an|something|there).*|(?:whoops|uh[- ]oh)(?:\W+(?:something|looks like something|an error|there was).*)",
                "(?:we're sorry |sorry |oops )*(?:but )?(?:something|things) (?:has |have |just )?(?:went|gone|is) (?:terribly |horribly )?wrong.*|(?:we're |we are )?(?:sorry )?(?:but )?we(?:'re| are) (?:having|experiencing) (?:some |technical |temporary )*(?:technical |problems|difficulties|trouble|issues).*",
                "(?:.* )?(?:is |are |we're |we are |we'll be |currently |temporarily |site |website |system |scheduled |planned |down |offline |closed )+(?:under |for |in |undergoing |off for |down for |having )*(?:scheduled |planned |routine |essential |a bit of |some )*maintenance(?: .*)?|(?:under|scheduled|planned|down for|undergoing|system|site|website) maintenance(?: .*)?|maintenance(?: mode| page| in progress| break| underway| window)|we'll be (?:right )?back.*|be right back|(?:be )?back soon|(?:site|website|page|service|system|shop|store|server) (?:is )?(?:currently |temporarily )?(?:unavailable|offline|down|closed|out of (?:service|order))(?: .*)?|temporarily (?:unavailable|offline|closed|down).*|technical difficulties",
                r"whitelabel error page|.* exception(?: at .*|: .*| caught)?|.*exception(?: at .*|: .*| caught)|traceback.*|runtime ?error.*|.+error at /.*|(?:\pL+)?error: .+|guru meditation.*|http status (?:4(?:00|05)|5\d\d).*|error establishing a database connection|.*critical error.*|wordpress .*error|action controller: exception caught|we're sorry.*but something went wrong.*|symfony exception|cannot connect to .+|no healthy upstream|application failed to respond",
                "wartungsarbeiten|wartungsmodus|wartung|(?:wegen )?wartungsarbeiten.*|interner serverfehler|serverfehler|es ist ein fehler aufgetreten|ein fehler ist aufgetreten|erreur (?:interne|serveur|500|technique|critique|fatale).*|(?:site )?en (?:cours de )?maintenance|une erreur (?:est|s'est) .*|error (?:interno|del servidor|fatal|cr[ií]tico|de servidor|inesperado).*|(?:sitio )?en mantenimiento|ha ocurrido un error.*|algo sali[oó] mal|em manuten[cç][aã]o|erro (?:interno|no servidor|500).*|ocorreu um erro.*|errore (?:interno|del server|500).*|in manutenzione|interne serverfout|er is een fout opgetreden|onderhoud|(?:технические|профилактические) работы|(?:внутренняя )?ошибка(?: сервера)?(?: 500)?|произошла ошибка|服务器(?:内部)?错误|系统(?:错误|维护).*|维护中|系统维护中|内部服务器错误|サーバー?エラー.*|メンテナンス(?:中).*|エラーが発生しました|システムエラー|ただいまメンテナンス中です.?|오류가 발생.*|서버 오류|점검 ?중.*",
            ],
        ),
        SignatureEntry(
            "vague-error-title",
            where=("title", "heading"),
            weight=0.25,
            words=90,
            whole=True,
            patterns=[
                "(?:error|fehler|erreur|errore|erro|ошибка|错误|エラー|오류|oops|ooops|whoops|sorry|uh oh|we're sorry|problem|exception)",
            ],
        ),
        SignatureEntry(
            "error-words",
            where=("text",),
            weight=0.7,
            words=110,
            patterns=[
                r"internal server error|bad gateway|gateway time-?out|service (?:is )?(?:temporarily )?unavailable|backend fetch failed|guru meditation|no healthy upstream|upstream connect error|web server (?:is down|reported)|http error 50\d|error 50[0-9]\b|50[0234] (?:error|-)",
                "(?:server|application|web ?site|site|system|page|page you (?:are looking for|requested)) (?:has )?(?:encountered|experienced|ran into|is experiencing|is having) (?:an?|some|a problem|problems|technical)[^.]*(?:error|problem|issue|misconfiguration|difficult|exception|trouble)?",
                "(?:unable|not able|failed|could not|couldn't|cannot|can't) (?:to )?(?:complete|process|fulfil|fulfill|handle|serve|load|connect to|reach|establish|display) (?:your |the |this |a )*(?:request|page|database|server|mysql|connection|data)",
                "(?:an? )?(?:unexpected |unknown |internal |fatal |critical |application |server |database |unhandled |technical )*(?:error|exception|problem|fault) (?:has )?(?:occurred|occured|happened|was (?:encountered|thrown|raised)|while (?:processing|connecting|loading))",
                "(?:something|things) (?:has |have )?(?:went|gone) (?:terribly |horribly )?wrong",
                r"(?:critical|fatal) error on (?:this|your) (?:web ?site|site)|error (?:establishing|connecting|opening) [^.]*(?:connection|database|server|redis|socket)|(?:connection|connect) (?:failed|refused|timed out|error)\b|database (?:error|connection)[^.]*(?:fail|error|could not|unavailable|refused|establish|problem)|(?:could not|couldn't|can't|cannot|failed to|unable to|error) connect(?:ing)? to (?:the )?(?:local )?(?:mysql|database|server|db|sql|postgres)",
                "(?:undergoing|down for|performing|under|for|in|scheduled|planned|routine|doing) (?:[a-z]+ ){0,3}(?:maintenance|upgrade|upgrades)|(?:web ?site|site|service|system|server|page|shop|store) (?:is |are )?(?:currently |temporarily |briefly |now )+(?:unavailable|offline|down|closed|out of service|not available|under maintenance)|(?:be back|back online|back up) (?:soon|shortly|online|in a|as soon|momentarily|and running)|(?:temporarily|briefly) (?:unavailable|offline|down)",
                "(?:experiencing|having) (?:some |a few |temporary )?technical (?:difficulties|problems|issues|trouble)|(?:our )?(?:team|engineers|administrators?|developers?|staff) (?:has|have|is|are) (?:already )?(?:been )?(?:notified|informed|alerted|working on|looking into|investigating)|please try (?:again|refreshing|reloading|your request)[^.]*(?:later|moment|minutes|shortly|soon|page)",
                "wartungsarbeiten|fehler aufgetreten|interner serverfehler|erreur (?:interne|est survenue|s'est produite)|une erreur|en maintenance|error interno|ha ocurrido un error|se ha producido un error|mantenimiento|ocorreu um erro|manuten[cç][aã]o|si [eè] verificato un errore|manutenzione|er is (?:een|iets) (?:fout|mis)|onderhoud|произошла ошибка|технически[ех] работ|ошибка сервера|服务器(?:内部)?错误|系统维护|出现(?:了)?错误|エラーが発生|メンテナンス|오류가 발생|점검",
            ],
        ),
        SignatureEntry(
            "program-error",
            where=("text",),
            weight=0.7,
            words=260,
            patterns=[
                r"(?:fatal|parse|catchable fatal|recoverable fatal) error: |(?:warning|notice|deprecated): .* in [^ ]{2,200}\.(?:php|inc|module|phtml)[^ ]{0,20} on line \d|uncaught (?:\pL+ ?)?(?:error|exception|typeerror|pdoexception)|call to (?:a member|undefined) (?:function|method)|allowed memory size of|maximum execution time of",
                r"""traceback \(most recent call last\)|file "[^"]{2,200}", line \d+, in |stack trace:|stacktrace|\bat (?:[a-z_$][\w$]*\.){2,}[\w$<>]+\((?:[\w$]+\.(?:java|kt|scala|cs)|native method|unknown source)|java\.lang\.\w+exception(?::| at | (?:java|com|org)\.)|javax\.servlet|org\.(?:springframework|apache|hibernate)[\w.]{0,60}exception|system\.(?:web|data|nullreference|invalidoperation)[\w.]{0,60}(?:exception)?: |\.rb:\d+:in [`']|node:internal|node_modules/|goroutine \d+ \[|panic: |unhandled exception""",
                r"sqlstate\[|you have an error in your sql syntax|mysql_(?:connect|query|fetch)|mysqli?(?:_sql)?_?exception|ora-\d{5}|pg::\w*error|psycopg2?\.|unclosed quotation mark|odbc (?:sql )?(?:server )?driver|ole db provider|sqlite3?::|server error in '/|nomethoderror|templatedoesnotexist|improperlyconfigured|activerecord::|illuminate\\|symfony\\component|whitelabel error page|application error: a (?:client|server)-side exception|digest: \d{6,}",
                r"description: an unhandled exception|version information: microsoft \.net|you're seeing this error because you have debug|this application has no explicit mapping for /error|the web ?site encountered an unexpected error|incomplete response received from application|passenger|uwsgi error|cannot (?:get|post) /",
            ],
        ),
        SignatureEntry(
            "error-marker",
            where=("html",),
            weight=0.8,
            words=90,
            patterns=[
                r"""<code>(?:nosuchkey|nosuchbucket|internalerror|invalidbucketname)</code>|herokucdn\.com/error-pages|id=["']?__next_error__|class=["']?(?:wp-die-message|next-error)|id=["']?error-page["']? ?>|exception_message|sf-dump|laravel-exceptions|fastly error: unknown domain|x-varnish|class=["']?(?:exception|traceback|stacktrace)""",
            ],
        ),
        SignatureEntry(
            "error-address",
            where=("url",),
            weight=0.4,
            words=60,
            patterns=[
                "/(?:error|500|503|maintenance|errorpage|error-page|oops|unavailable)(?:[/?.]|$)",
            ],
        ),
    ],
    Verdict.SOFT_404: [
        SignatureEntry(
            "not-found-title",
            where=("title", "heading"),
            weight=0.7,
            words=220,
            whole=True,
            patterns=[
                r"(?:sorry |oops |ooops |whoops |uh oh |ups |http |error |code |status )*(?:error )?(?:404|410)(?: ?[-:(]? ?(?:error(?: page)?|page|not (?:found|available).*|(?:page|file|object|url|resource|content|http|error) (?:not|does|missing|is|was|no|cannot|could).*|http not found|oops.*|sorry.*|gone|nothing.*|the page.*|this page.*|we .*|you .*|no .*|lost.*|(?:die |la |esta |cette )?(?:seite|page|p[aá]gina|pagina|страница|strona|sidan) (?:.* )?(?:nicht|introuvable|no|n[aã]o|non|niet|не|pas|nie|inte|n'.*)\b.*))?",
                r"(?:\pL+ )?error 404.*|(?:\pL+ ){0,3}404(?: error)?(?: page)?",
                "(?:(?:we're |we are )?sorry |oops |ooops |whoops |uh oh |hmm+ |error |but )*(?:(?:the|this|that|your|requested|our) )*(?:requested )?(?:page|file|document|url|content|article|post|story|product|item|listing|topic|thread|user|profile|account|resource|object|entry|record|job|event|video|image|photo|recipe|book|category|tag|site|web ?page|web ?site|repository|project|link|result|page or resource|(?:page|content) (?:or .*)?you(?:'re| are| were|'ve| have)? ?(?:looking for|requested|tried to .*|trying to .*|wanted|seeking|request))(?: .*)?(?:(?:was|is|were|could|can|has|have|does|do|did|may|seems|appears|may have)(?:n't)? ?(?:to )?(?:not )?(?:be |been |have |has )*)?(?:not |no longer |n't |cannot |can't |not be |been )+(?:found|exist|exists|available|here|be found|located|be located|there|active|moved|deleted|removed)(?: .*)?",
                r"(?:sorry |oops |whoops )*(?:this|the|that|your)? ?(?:page|content|article|post|product|item|listing|file|url|job|link|video|ad|event|topic)(?: .*)? (?:has (?:been )?|is |was |may have (?:been )?|have been |(?:has )?gone|does not|doesn't|isn't|can't|cannot|could not|couldn't)(?: \pL+)? ?(?:removed|deleted|moved|gone|missing|expired|exist|unavailable|available|be found|found|here|ended|closed|archived|disappeared|went missing|lost)(?: .*)?",
                "(?:not found|page not found|nothing (?:was )?found(?: .*)?|nothing (?:here|to see here|to show|to display)|no such (?:page|file|user|article|document|topic|item)|page (?:missing|unavailable|does not exist|doesn't exist)|missing page|broken link|dead link|lost|you(?:'re| are| seem| look| appear)(?: to be)? lost|(?:are you |got |looks like you(?:'re| are) )lost|gone|invalid (?:url|page|link|topic|product|id).*|bad link|(?:we |sorry we |oops we )(?:can't|cannot|could not|couldn't|can not|were unable to|are unable to|'re unable to)(?: seem to)? (?:find|locate) .+|(?:the |this )?page you(?:'re| are| were)? (?:looking for|requested).*|(?:this|that|the) (?:is not|isn't) the (?:web )?page you.*|houston we have a problem|well this is (?:embarrassing|awkward).*|does not exist|no longer available|content (?:not available|unavailable).*|this isn't available.*)",
                "(?:there (?:are|were|is) )?(?:sorry )?(?:no|0|zero) (?:(?:search|matching|product|exact|such|posts?|articles?|items?|entries|jobs?|listings?|events?|records?) ?)*(?:results?|matches|products|items|posts|articles|entries|documents|hits|records|listings|jobs|pages|events|data|content)(?: (?:were |was |have been |has been )?(?:found|available|to (?:show|display)|match(?:ed|ing)?|returned|yet|for|in|here).*)?|(?:your )?search (?:returned|yielded|did not|didn't|has) .*(?:no|match|zero|0).*|(?:we )?(?:found no|couldn't find any|could not find any|didn't find any|did not find any|haven't found any) .+",
                "(?:(?:die |diese )?(?:angeforderte |gesuchte |gew[uü]nschte )?(?:seite|datei|inhalt|artikel|produkt|dokument)(?: .*)? (?:(?:wurde|konnte|ist|existiert|gibt es) )?(?:leider )?(?:nicht|nicht mehr)(?: .*)?|nicht gefunden|fehler 404.*|seite existiert nicht|keine (?:ergebnisse|treffer|suchergebnisse|produkte|eintr[aä]ge|artikel)(?: .*)?)",
                "(?:(?:la |cette )?(?:page|article|produit|document|fichier|contenu)(?: .*)? (?:est |n'est |n'a |n'existe |est |a )?(?:introuvable|pas (?:[eé]t[eé] )?(?:trouv[eé]e?|disponible)|non trouv[eé]e?|pas|plus|inexistante?|inconnue?|supprim[eé]e?|indisponible)(?: .*)?|introuvable|page inexistante|aucun(?:e)? (?:r[eé]sultat|article|produit|page|correspondance|contenu)(?: .*)?|erreur 404.*|cette page n'existe (?:pas|plus))",
                "(?:(?:la |esta |lo sentimos )*(?:p[aá]gina|art[ií]culo|producto|archivo|contenido|documento)(?: .*)? (?:no|no ha sido|no fue|ya no|inexistente|desconocid[oa])(?: .*)?|no encontrad[oa]|no se (?:ha |han )?(?:encontr[a-zóo]+|hall[a-zóo]+)(?: .*)?|(?:sin|ning[uú]n) resultados?(?: .*)?|no hay resultados.*|error 404.*)",
                "(?:(?:a |esta |desculpe )*p[aá]gina(?: .*)? n[aã]o(?: .*)?|n[aã]o encontrad[oa].*|nenhum (?:resultado|produto|artigo|item).*|(?:la |questa )?pagina(?: .*)? (?:non|inesistente)(?: .*)?|non trovat[oa].*|nessun risultato.*|(?:de |deze )?pagina(?: .*)? (?:niet|bestaat niet|is niet)(?: .*)?|niet gevonden|geen (?:resultaten|resultaat).*|(?:nie znaleziono|strona nie|brak wynik[oó]w).*|sidan (?:kunde|hittades|finns) (?:inte).*|siden (?:blev|ble|kunne|findes|finnes|eksisterer).*|sivua ei l[oö]ydy.*|str[aá]nka (?:nebyla|neexistuje|nenalezena).*|(?:az )?oldal nem tal[aá]lhat[oó].*|sayfa bulunamad[ıi].*|pagina nu (?:a fost|exist[aă]).*|kh[oô]ng t[iì]m th[aấ]y.*|halaman tidak ditemukan.*)",
                "(?:страница|файл|материал|товар|запись)?(?: .*)? ?не (?:найден[аоы]?|существует|обнаружен[а-я]*)(?: .*)?|ничего не найдено.*|страница удалена.*|ошибка 404.*|сторінк[а-яі]+ не знайдено|(?:ページ|お探しのページ|指定されたページ|ファイル|記事|商品).*(?:見つかりません|存在しません|ありません|見つかりませんでした|削除され|移動).*|見つかりません.*|該当する.*(?:ありません|見つかりません).*|(?:抱歉|对不起|很抱歉)?.*(?:页面|頁面|网页|文章|内容|商品|文件).*(?:不存在|未找到|找不到|已(?:被)?删除|丢失|走丢了|無法找到|无法找到).*|(?:找不到|未找到|无法找到).*(?:页面|頁面|网页|内容|结果|資源|资源).*|没有找到.*|페이지를? ?(?:찾을 수|존재하지).*|검색 ?결과가 없.*|الصفحة غير موجودة.*|لم يتم العثور.*|הדף לא נמצא.*|η σελίδα δεν .*|पृष्ठ नहीं मिला",
            ],
        ),
        SignatureEntry(
            "not-found-words",
            where=("text",),
            weight=0.7,
            words=130,
            patterns=[
                r"(?:page|file|document|url|content|article|post|resource|link|item|product|listing|address|web ?page|site|profile|user|account|topic|thread|story|job|video|event|recipe|entry)(?: (?:that |which )?you(?:'re| are| were|'ve| have)? ?(?:looking for|requested|tried|trying|entered|followed|want|wanted|seeking|searching|clicked)[^.]*)? (?:could|can|was|is|does|has|may|might|cannot|can't|couldn't|doesn't|isn't|wasn't|no longer|seems|appears|must|never|hasn't|had|did|didn't)(?:(?: \pL+){0,3} (?:not (?:found|exist|be found|be located|valid|here|there|a valid)|no longer|never|exists?|moved|gone|removed|deleted|missing|expired|renamed|withdrawn)| be (?:found|located)| longer (?:available|exists?|here))\b",
                r"(?:can't|cannot|can not|could not|couldn't|unable to|not able to|didn't|did not|failed to|don't)(?: seem to)? (?:find|locate) (?:(?:the|that|this|a|any|your|such a|requested|specified) (?:[a-z]+ ){0,2}(?:page|file|document|article|content|resource|product|item|post|url|address|user|account|listing|result|match|thing)|what you|anything (?:for|matching|here|that)|it\b|any (?:[a-z]+ )?(?:results|matches|products|items|articles))",
                r"(?:404|page|file|url|object|resource) not found|not found on (?:this|the) server|no such (?:page|url|article|user|topic)|nothing (?:was |has been )?found (?:at|for|here|matching)|looks like (?:nothing|you(?:'re| are)|there|the|this)[^.]*(?:found|lost|nothing|broken|gone|wrong|here)|(?:broken|dead|outdated|old|bad) link|(?:mistyped|misspelled|check) the (?:address|url|spelling)|typed the (?:address|url)|no longer accepting applications|(?:position|vacancy|job) (?:has been |is |was )?(?:filled|closed)|(?:posting|listing|offer|vacancy|ad|advert|auction|event|deal|link|job)(?: \pL+)? (?:has |is |was |have )+(?:already )?(?:expired|ended|closed|been (?:removed|deleted|closed|archived))|(?:you(?:'re| are)|seem|get|got) lost",
                r"(?:may|might) have (?:been )?(?:removed|deleted|moved|renamed|taken down|withdrawn|unpublished|relocated|expired)|had its name changed|(?:this|the|that) (?:[a-z]+ ){1,3}(?:is no longer|isn't|doesn't|does not|no longer|has never|never|was) (?:available|exists?|existed|active|published|here|sold|removed|deleted)\b",
                r"\b(?:no|0|zero) (?:[a-z]+ ){0,2}(?:results?|matches|products|items|posts|articles|entries|documents|listings|jobs|records|hits|pages)(?: \pL+){0,2} (?:found|match|matched|for|available|to (?:show|display)|returned|here|yet)\b|\bdid(?: not|n't) (?:match|return|find|yield) any|nothing (?:matched|matches)|(?:try|use) (?:different|other|another|fewer|more general|again with)[^.]* (?:keywords?|terms?|search|words|filters|query|spelling)|\b(?:0|no) results\b|couldn't find any|could not find any|\bno matching\b",
                "seite[^.]* nicht|nicht (?:gefunden|mehr verf[uü]gbar|mehr vorhanden)|existiert nicht|keine (?:ergebnisse|treffer|artikel|produkte)|page[^.]* (?:introuvable|n'existe|n'est (?:pas|plus)|a [eé]t[eé] (?:supprim|d[eé]plac)|pas [eé]t[eé] trouv)|introuvable|aucun(?:e)? (?:r[eé]sultat|article|produit)|p[aá]gina[^.]* (?:no (?:existe|se|est[aá]|ha|fue)|n[aã]o)|no (?:se )?(?:encontr|hemos encontrado|pudimos encontrar)|no hay resultados|sin resultados|n[aã]o (?:foi )?(?:encontrad|existe|encontramos)|nenhum resultado|pagina[^.]* (?:non (?:esiste|[eè])|niet)|non (?:[eè] stata )?trovat|nessun risultato|niet gevonden|geen resultaten|bestaat niet|nie (?:istnieje|znaleziono|została)|hittades inte|findes ikke|ikke fundet|finnes ikke|не (?:найден|существует|найдено)|была удалена|ничего не найдено|見つかりません|存在しません|ありませんでした|削除された|不存在|找不到|未找到|没有找到|无法找到|已(?:被)?删除|찾을 수 없|존재하지 않|검색 ?결과가 없|bulunamad|nem tal[aá]lhat|nebyla nalezena|neexistuje|غير موجودة|tidak ditemukan",
            ],
        ),
        SignatureEntry(
            "not-found-marker",
            where=("html",),
            weight=0.5,
            words=130,
            patterns=[
                r"""<body[^>]{0,300}class=["'][^"'>]{0,200}(?:error-?404|page-?404|not-?found|error_?404|no-results|search-no-results|http-404)|class=["'][^"'>]{0,60}(?:error-?404|not-?found|page-?404|no-results|error-page|notfound)["' ]|id=["']?(?:error-?404|not-?found|page-?404|error404|no-results)["' >]|/404\.(?:svg|png|gif|jpg|webp)""",
            ],
        ),
        SignatureEntry(
            "not-found-address",
            where=("url",),
            weight=0.5,
            words=130,
            patterns=[
                "/(?:404|not-?found|page-?not-?found|error-?404|notfound|error/404)(?:[/?.]|$)",
            ],
        ),
    ],
    # Signs of a page about the matter: their weight is taken from that of every verdict.
    Verdict.OK: [
        SignatureEntry(
            "explains-in-title",
            where=("title",),
            weight=0.5,
            words=1000,
            patterns=[
                r"\b(?:how (?:to|do|does|can|we|i)|what (?:is|are|does)|why (?:do|does|is|are|am|did)|guide|tutorial|explained|explain|glossary|changelog|release notes|documentation|docs|reference|manual|faq|handbook|examples|questions|stack ?overflow|wikipedia|troubleshoot(?:ing)?|fix(?:ing|ed)|solved|tips)\b",
            ],
        ),
        SignatureEntry(
            "explains",
            where=("text",),
            weight=1.0,
            words=1000,
            patterns=[
                r"\b(?:status|response|error) codes?,? (?:is|means?|indicates?|that|only|tells?|are|was|\d+ (?:is|means?|indicates?|tells?))\b|client error response|\b(?:indicates|means|tells [^.]*) that the server|(?:is|are) (?:returned|sent|shown|used) when\b|\bfor example\b|\bsee also\b|\bin this (?:article|tutorial|guide|post|chapter|section|example)\b|\bhow to (?:fix|solve|avoid|resolve)\b|\bthe following (?:example|code|table|command)",
            ],
        ),
    ],
}
