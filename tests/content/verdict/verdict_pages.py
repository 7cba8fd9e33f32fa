"""Pages that are substitutes for the requested one, and pages that only resemble such.

All of them are written for these tests, in the manner of what is seen in the wild: names of scripts,
cookies and elements are facts, the texts are ours.
"""

# ruff: noqa: E501, RUF001 - pages are text, in several scripts

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crawl4r.model import Verdict


@dataclass(frozen=True, slots=True)
class Page:
    name: str
    verdict: Verdict
    html: str | bytes
    url: str = "https://example.org/articles/seven"
    status: int = 200
    headers: Sequence[tuple[str, str]] = ()

    @property
    def body(self) -> bytes:
        return self.html if isinstance(self.html, bytes) else self.html.encode()


NAV = (
    '<nav><a href="/">Home</a> <a href="/shop">Shop</a> <a href="/blog">Blog</a> '
    '<a href="/about">About us</a> <a href="/contact">Contact</a></nav>'
)
FOOTER = (
    "<footer><p>Subscribe to our newsletter for monthly news. All prices include VAT.</p>"
    '<a href="/terms">Terms</a> <a href="/privacy">Privacy</a> &copy; 2026 Example Ltd.</footer>'
)
PROSE = (
    "The river had been low all summer, and the ferry that used to cross it every hour now lay on "
    "the gravel with its ropes slack. People walked across instead, carrying their shoes, and talked "
    "about the rain that the forecast kept promising. Nobody was in a hurry. The shop on the far "
    "bank sold coffee and bread until noon, and after that the owner read the paper in the shade. "
)


def page(title: str, content: str, head: str = "") -> str:
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>{head}'
        f"</head><body>{content}</body></html>"
    )


def site(title: str, content: str) -> str:
    """A page inside a site's own template."""
    return page(title, f"<header>{NAV}</header><main>{content}</main>{FOOTER}")


def _blocked(name: str, html: str, **more: object) -> Page:
    return Page(name, Verdict.BLOCKED, html, **more)  # type: ignore[arg-type]


BLOCKED = [
    _blocked(
        "cloudflare challenge, old form",
        page(
            "Just a moment...",
            '<div class="cf-browser-verification cf-im-under-attack"><noscript><h1>Please turn '
            "JavaScript on and reload the page.</h1></noscript><div id=cf-content><h1>Checking your "
            "browser before accessing example.org.</h1><p>This process is automatic.</p><p>Please "
            'allow up to 5 seconds</p></div><form id="challenge-form" action="/?__cf_chl_jschl_tk__=1"'
            ' method=POST><input type=hidden name="jschl_vc" value=x></form></div>',
        ),
        status=503,
        headers=[("server", "cloudflare"), ("cf-ray", "7abc-FRA")],
    ),
    _blocked(
        "cloudflare challenge, new form",
        page(
            "Just a moment...",
            "<div class=main-wrapper role=main><div class=main-content><noscript><div>Enable "
            "JavaScript and cookies to continue</div></noscript></div></div><script>(function(){"
            "window._cf_chl_opt={cvId:'3',cType:'managed'};var a=document.createElement('script');"
            "a.src='/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1?ray=8';}());</script>",
        ),
        status=403,
        headers=[("cf-mitigated", "challenge"), ("server", "cloudflare")],
    ),
    _blocked(
        "cloudflare challenge without status or headers",
        page(
            "Just a moment...",
            "<h1>example.org</h1><p>Verify you are human by completing the action below.</p><p>"
            "example.org needs to review the security of your connection before proceeding.</p>"
            "<script src='https://challenges.cloudflare.com/turnstile/v0/api.js'></script>",
        ),
    ),
    _blocked(
        "cloudflare challenge in German",
        page(
            "Nur einen Moment…",
            "<h1>example.org</h1><p>Bestätigen Sie, dass Sie ein Mensch sind. Dies kann einige "
            "Sekunden dauern.</p><script>window._cf_chl_opt={}</script>",
        ),
        status=403,
    ),
    _blocked(
        "cloudflare 1020",
        page(
            "Access denied | example.org used Cloudflare to restrict access",
            '<div id="cf-wrapper"><div id="cf-error-details"><h1><span>Error</span> <span>1020</span>'
            "</h1><h2>Access denied</h2><h2>What happened?</h2><p>This website is using a security "
            "service to protect itself from online attacks.</p><p>Ray ID: 7f1c2d3e4f5a6b7c</p>"
            "</div></div>",
        ),
    ),
    _blocked(
        "cloudflare 1015",
        page(
            "Rate Limited",
            '<div id="cf-error-details"><h1>Error 1015</h1><h2>You are being rate limited</h2><p>The '
            "owner of this website (example.org) has banned you temporarily from accessing this "
            "website.</p></div>",
        ),
        status=429,
    ),
    _blocked(
        "cloudflare attention required",
        page(
            "Attention Required! | Cloudflare",
            "<div id=cf-wrapper><h1>Sorry, you have been blocked</h1><h2>You are unable to access "
            "example.org</h2><h2>Why have I been blocked?</h2><p>This website is using a security "
            "service to protect itself from online attacks. The action you just performed triggered "
            "the security solution.</p><p>You can email the site owner to let them know you were "
            "blocked.</p><p>Cloudflare Ray ID: 8a1b2c3d4e5f6071 Your IP: 203.0.113.7</p></div>",
        ),
    ),
    _blocked(
        "akamai access denied",
        "<HTML><HEAD>\n<TITLE>Access Denied</TITLE>\n</HEAD><BODY>\n<H1>Access Denied</H1>\n You "
        'don\'t have permission to access "http&#58;&#47;&#47;example&#46;org&#47;" on this '
        "server.<P>\nReference&#32;&#35;18&#46;5f6d&#46;17&#46;2a\n</BODY>\n</HTML>",
    ),
    _blocked(
        "akamai behavioural challenge",
        page(
            "Challenge Validation",
            '<div id="sec-if-cpt-container"><div id="sec-if-container" class="behavioral-content">'
            '</div></div><script src="/_sec/cp_challenge/ak-challenge-4-3.htm"></script>',
        ),
    ),
    _blocked(
        "imperva frame",
        '<html style="height:100%"><head><META NAME="ROBOTS" CONTENT="NOINDEX, NOFOLLOW"></head><body '
        'style="margin:0px;height:100%"><iframe id="main-iframe" src="/_Incapsula_Resource?SWUDNSAI=31'
        '&xinfo=9-1" frameborder=0 width="100%" height="100%">Request unsuccessful. Incapsula incident '
        "ID: 1234000560-98765432</iframe></body></html>",
        headers=[("x-iinfo", "9-1"), ("set-cookie", "visid_incap_1=abc; path=/")],
    ),
    _blocked(
        "imperva pardon our interruption",
        page(
            "Pardon Our Interruption",
            "<h1>Pardon Our Interruption</h1><p>As you were browsing something about your browser "
            "made us think you were a bot. There are a few reasons this might happen:</p><ul><li>You "
            "are moving through this site with super-human speed.</li><li>You have disabled cookies "
            "in your web browser.</li></ul>",
        ),
    ),
    _blocked(
        "datadome",
        "<html><head><title>example.org</title><style>#cmsg{animation: A 1.5s;}</style></head><body "
        'style="margin:0"><p id="cmsg">Please enable JS and disable any ad blocker</p><script '
        "data-cfasync=false>var dd={'rt':'c','cid':'AHrlq','hsh':'A2','host':'geo.captcha-delivery.com'"
        "}</script><script src=https://ct.captcha-delivery.com/c.js></script></body></html>",
        headers=[("x-datadome", "protected"), ("set-cookie", "datadome=xyz; Path=/")],
    ),
    _blocked(
        "perimeterx press and hold",
        page(
            "Access to this page has been denied",
            "<h1>Press &amp; Hold to confirm you are a human (and not a bot).</h1><div "
            "id='px-captcha'></div><p>Reference ID 3f2a1b</p><script>window._pxAppId='PX1';</script>",
        ),
    ),
    _blocked(
        "perimeterx, another text",
        page(
            "Robot or human?",
            "<h1>Robot or human?</h1><p>Activate and hold the button to confirm that you're human. "
            "Thank You!</p><div id=px-captcha></div>",
        ),
    ),
    _blocked(
        "aws waf challenge",
        "<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title></title><script>"
        "window.awsWafCookieDomainList=[];window.gokuProps={key:'a',iv:'b'};</script><script "
        'src="https://1a.token.awswaf.com/1a/challenge.js"></script></head><body><div '
        'id="challenge-container"></div><noscript><h1>JavaScript is disabled</h1>In order to continue,'
        " we need to verify that you're not a robot. This requires JavaScript.</noscript></body></html>",
        status=202,
        headers=[("x-amzn-waf-action", "challenge")],
    ),
    _blocked(
        "aws waf captcha",
        page(
            "Human Verification",
            '<div id="captcha-container"></div><script src="https://x.captcha.awswaf.com/captcha.js">'
            "</script><script>AwsWafIntegration.saveReferrer();</script>",
        ),
    ),
    _blocked(
        "sucuri",
        page(
            "Sucuri WebSite Firewall - Access Denied",
            "<h1>Sucuri Website Firewall - Access Denied</h1><h2>Block details:</h2><table><tr><td>"
            "Your IP:</td><td>203.0.113.5</td></tr><tr><td>URL:</td><td>example.org/</td></tr><tr><td>"
            "Block ID:</td><td>GEO02</td></tr></table><p>If you are the site owner, open a ticket.</p>",
        ),
    ),
    _blocked(
        "sucuri javascript challenge",
        "<html><title>You are being redirected...</title><noscript>Javascript is required. Please "
        "enable javascript before you are allowed to see this page.</noscript><script>var s={},u,c,U,r;"
        "S='x';sucuri_cloudproxy_js='';</script></html>",
    ),
    _blocked(
        "ddos-guard",
        page(
            "DDoS-Guard",
            "<h1>Checking your browser before accessing example.org</h1><p>Please wait a few seconds."
            "</p><script src=/.well-known/ddos-guard/check?context=free_splash></script>",
        ),
        status=403,
        headers=[("server", "ddos-guard"), ("set-cookie", "__ddg1_=abc")],
    ),
    _blocked(
        "recaptcha interstitial",
        page(
            "One more step",
            "<h1>One more step</h1><p>Please complete the security check to access this website.</p>"
            "<form method=post action=/verify><div class=g-recaptcha data-sitekey=x></div><button>"
            "Submit</button></form>",
        ),
    ),
    _blocked(
        "hcaptcha interstitial",
        page(
            "example.org",
            "<h2>Are you a human?</h2><p>We need a quick check before you can go on.</p><form><div "
            'class="h-captcha" data-sitekey="x"></div></form><script '
            "src=https://js.hcaptcha.com/1/api.js async></script>",
        ),
    ),
    _blocked(
        "turnstile interstitial",
        page(
            "Security check",
            "<p>Please confirm that you are not a robot to continue to the site.</p><div "
            'class="cf-turnstile" data-sitekey="0x"></div>',
        ),
    ),
    _blocked(
        "picture captcha",
        page(
            "Robot Check",
            "<h4>Enter the characters you see below</h4><p>Sorry, we just need to make sure you're not "
            "a robot. For best results, please make sure your browser is accepting cookies.</p><form "
            'action="/errors/validateCaptcha"><img src="/captcha/x.jpg"><input name=field-keywords>'
            "<button>Continue shopping</button></form>",
        ),
    ),
    _blocked(
        "google unusual traffic",
        page(
            "https://www.google.com/search?q=ferry",
            "<form id=captcha-form action=index method=post><div id=recaptcha class=g-recaptcha></div>"
            "</form><div><b>About this page</b><br>Our systems have detected unusual traffic from your "
            "computer network. This page checks to see if it's really you sending the requests, and "
            "not a robot. IP address: 203.0.113.9<br>Time: 2026-01-01T00:00:00Z</div>",
        ),
        url="https://www.google.com/sorry/index?continue=x",
    ),
    _blocked(
        "wordfence",
        page(
            "Your access to this site has been limited",
            "<h1>Your access to this site has been limited by the site owner</h1><p>Your access to "
            "this service has been limited. (HTTP response code 503)</p><p>If you think you have been "
            "blocked in error, contact the owner of this site for assistance.</p><p>Generated by "
            "Wordfence at Thu, 1 Jan 2026.</p>",
        ),
        status=503,
    ),
    _blocked(
        "f5 rejected",
        "<html><head><title>Request Rejected</title></head><body>The requested URL was rejected. "
        "Please consult with your administrator.<br><br>Your support ID is: 1234567890123456789<br>"
        "<br><a href='javascript:history.back();'>[Go Back]</a></body></html>",
    ),
    _blocked(
        "plain 403 of nginx",
        "<html>\r\n<head><title>403 Forbidden</title></head>\r\n<body>\r\n<center><h1>403 Forbidden"
        "</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n",
        status=403,
    ),
    _blocked(
        "403 of apache, sent as 200",
        "<!DOCTYPE HTML PUBLIC><html><head><title>403 Forbidden</title></head><body><h1>Forbidden</h1>"
        "<p>You don't have permission to access this resource.</p></body></html>",
    ),
    _blocked(
        "rate limit in a word",
        "<html><body><h1>Too Many Requests</h1></body></html>",
        status=429,
        headers=[("retry-after", "60")],
    ),
    _blocked(
        "rate limit inside the site's template",
        site(
            "Slow down! - Example",
            "<h1>Slow down!</h1><p>You have sent too many requests in a short time. Please wait 60 "
            "seconds and try again.</p>",
        ),
    ),
    _blocked(
        "rate limit of a forge",
        page(
            "Rate limit - Example Forge",
            "<p>Whoa there!</p><p>You have exceeded a secondary rate limit. Please wait a few minutes "
            "before you try again; in some cases this may take up to an hour.</p>",
        ),
    ),
    _blocked(
        "geo block of a video site",
        site(
            "Not available in your region",
            "<h1>Sorry!</h1><p>This video is not available in your country because of licence "
            "agreements.</p>",
        ),
    ),
    _blocked(
        "geo block of a newspaper",
        page(
            "451: Unavailable due to legal reasons",
            "<h1>451: Unavailable due to legal reasons</h1><p>We recognize you are attempting to access "
            "this website from a country belonging to the European Economic Area including the EU, "
            "which enforces the General Data Protection Regulation and therefore access cannot be "
            "granted at this time.</p>",
        ),
    ),
    _blocked(
        "cookie wall",
        page(
            "Cookies required",
            "<p>Your browser is not accepting cookies. Please enable cookies in your browser to "
            "continue to the site.</p>",
        ),
    ),
    _blocked(
        "corporate firewall",
        page(
            "Web Page Blocked",
            "<h1>Web Page Blocked!</h1><p>You have tried to access a web page that is in violation of "
            "your Internet usage policy.</p><p>Category: News</p>",
        ),
    ),
    _blocked(
        "proof of work",
        page(
            "Making sure you're not a bot!",
            "<h1>Making sure you're not a bot!</h1><p id=status>Loading...</p><details><summary>Why am "
            "I seeing this?</summary><p>The administrator of this website set up Anubis to protect the "
            "server against aggressive scraping.</p></details><script id=anubis_challenge>{}</script>",
        ),
    ),
    _blocked(
        "checkpoint of a hosting platform",
        page(
            "Vercel Security Checkpoint",
            "<p>We're verifying your browser</p><p>Website owner? Click here to fix</p><script>1"
            "</script>",
        ),
        status=429,
    ),
    _blocked(
        "refusal in French",
        page(
            "Accès refusé",
            "<h1>Accès refusé</h1><p>Votre adresse IP a été bloquée par notre pare-feu.</p>",
        ),
    ),
    _blocked(
        "refusal in Russian",
        page("Доступ запрещён", "<h1>Доступ запрещён</h1><p>Ваш запрос был заблокирован.</p>"),
        status=403,
    ),
    _blocked(
        "verification in Chinese",
        page(
            "安全验证",
            "<div>请完成安全验证后继续访问</div><div id=captcha></div><script>1</script>",
        ),
    ),
    _blocked(
        "mod_security",
        "<head><title>Not Acceptable!</title></head><body><h1>Not Acceptable!</h1><p>An appropriate "
        "representation of the requested resource could not be found on this server. This error was "
        "generated by Mod_Security.</p></body></html>",
        status=406,
    ),
    _blocked(
        "bare text refusal",
        "Access denied. Your IP address has been blocked.",
    ),
]


def _shell(name: str, html: str, **more: object) -> Page:
    return Page(name, Verdict.NEEDS_BROWSER, html, **more)  # type: ignore[arg-type]


SHELLS = [
    _shell(
        "react",
        page(
            "React App",
            "<noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>",
            '<script defer src="/static/js/main.8f3c1a2b.js"></script>',
        ),
    ),
    _shell(
        "vue",
        page(
            "shop",
            "<noscript><strong>We're sorry but shop doesn't work properly without JavaScript enabled. "
            "Please enable it to continue.</strong></noscript><div id=app></div><script "
            "src=/js/chunk-vendors.1a2b3c4d.js></script>",
        ),
    ),
    _shell(
        "angular",
        page("Console", "<app-root></app-root><script src=main.js type=module></script>"),
    ),
    _shell(
        "angular with a spinner",
        page(
            "Console",
            "<app-root><div class=spinner>Loading...</div></app-root><script src=main.a1b2c3d4.js>"
            "</script>",
        ),
    ),
    _shell(
        "next without content",
        page(
            "My Next App",
            '<div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{"props":{}}'
            "</script><script src=/_next/static/chunks/main-1.js></script>",
        ),
    ),
    _shell(
        "nuxt",
        page(
            "",
            '<div id="__nuxt"><div id="nuxt-loading" aria-live="polite"><div>Loading...</div></div>'
            "</div><script>window.__NUXT__={}</script><script src=/_nuxt/entry.js></script>",
        ),
    ),
    _shell(
        "vite module",
        page("App", '<div id="app"></div><script type="module" src="/src/main.ts"></script>'),
    ),
    _shell(
        "unnamed mount point",
        page("Dashboard", "<div class=container></div><script src=/bundle.js></script>"),
    ),
    _shell(
        "visible demand for JavaScript",
        page(
            "Example",
            "<p>This site requires JavaScript. Please turn it on in your browser settings and reload "
            "the page.</p><script src=a.js></script>",
        ),
    ),
    _shell(
        "demand in the noscript, logo beside it",
        page(
            "Mail",
            "<img src=logo.png><noscript>JavaScript must be enabled in order for you to use Example "
            "Mail.</noscript><script src=mail.js></script>",
        ),
    ),
    _shell(
        "demand in German",
        page(
            "Portal",
            "<noscript>Bitte aktivieren Sie JavaScript, um diese Seite zu nutzen.</noscript><div "
            "id=main></div><script src=p.js></script>",
        ),
    ),
    _shell(
        "demand in Japanese",
        page(
            "ポータル",
            "<noscript>このサイトを利用するにはJavaScriptを有効にしてください。</noscript><div id=wrap></div>"
            "<script src=p.js></script>",
        ),
    ),
    _shell(
        "spinner",
        page(
            "Please wait",
            '<div class="spinner-border" role=status><span>Loading, please wait...</span></div><script '
            "src=/app.3f2a1b.js></script>",
        ),
    ),
    _shell(
        "blazor",
        page(
            "Blazor",
            '<div id="app">Loading...</div><div id="blazor-error-ui">An unhandled error has occurred. '
            '<a href="">Reload</a></div><script src="_framework/blazor.webassembly.js"></script>',
        ),
    ),
    _shell(
        "flutter",
        page("flutter_app", '<script src="flutter_bootstrap.js" async></script>'),
    ),
    _shell(
        "redirect by script",
        "<html><body><script>window.location.replace('/en/home?x=1')</script></body></html>",
    ),
]


def _login(name: str, html: str, **more: object) -> Page:
    return Page(name, Verdict.LOGIN_WALL, html, **more)  # type: ignore[arg-type]


_FORM = (
    "<form method=post><label>Username <input name=user></label><label>Password <input name=pass "
    "type=password></label><label><input type=checkbox> Remember me</label><button>Log in</button>"
    '<a href="/forgot">Forgot your password?</a></form>'
)
LOGINS = [
    _login("login page", page("Log in | Example", f"<h1>Log in</h1>{_FORM}")),
    _login("login in the site's template", site("Sign in - Example", f"<h1>Sign in</h1>{_FORM}")),
    _login("form and nothing else", page("Example Intranet", f"<img src=logo.png>{_FORM}")),
    _login(
        "members only",
        site(
            "Members only",
            "<h1>Members only</h1><p>You must be logged in to view this page. Please <a href=/login>"
            "log in</a> or <a href=/join>register</a>.</p>",
        ),
    ),
    _login(
        "forum",
        site(
            "Information",
            "<p>You are not logged in. You have to <a href=/l>log in</a> to read this forum. The board "
            "requires you to be registered and logged in to view this topic.</p>" + _FORM,
        ),
    ),
    _login(
        "first step of an account provider",
        page(
            "Sign in to your account",
            "<div>Sign in</div><form><input type=email name=loginfmt placeholder='Email, phone'><p>No "
            "account? Create one!</p><p>Can't access your account?</p><input type=submit value=Next>"
            "</form>",
        ),
    ),
    _login(
        "buttons of other providers",
        page(
            "Welcome",
            "<h1>Welcome back</h1><p>Sign in to continue to Example.</p><button>Continue with Google"
            "</button><button>Continue with SSO</button><p>Don't have an account? Sign up</p>",
        ),
    ),
    _login(
        "saml post",
        page(
            "Working...",
            '<form method="POST" action="https://idp.example.org/sso"><input type=hidden '
            'name="SAMLRequest" value="x"><input type=hidden name=RelayState value=y><noscript>Script '
            "is disabled. Click Submit to continue.<input type=submit></noscript></form><script>"
            "document.forms[0].submit()</script>",
        ),
    ),
    _login(
        "single sign-on of a university",
        page(
            "Web Login Service",
            f"<h1>Example University</h1><p>Login to Library Catalogue</p>{_FORM}<p>Need help?</p>",
        ),
        url="https://idp.example.org/idp/profile/SAML2/Redirect/SSO?execution=e1s1",
    ),
    _login(
        "refresh to the login",
        '<html><head><meta http-equiv="refresh" content="0;url=/login?next=/articles/seven"></head>'
        "<body>Redirecting to login...</body></html>",
    ),
    _login(
        "paywall",
        site(
            "The ferry that waits - Example Times",
            "<h1>The ferry that waits</h1><p>The river had been low all summer, and the ferry lay on "
            "the gravel.</p><section><h2>Subscribe to continue reading</h2><p>This article is for "
            "subscribers only. Already a subscriber? <a href=/login>Log in</a>.</p></section>",
        ),
    ),
    _login(
        "401 as a page",
        "<html><head><title>401 Authorization Required</title></head><body><center><h1>401 "
        "Authorization Required</h1></center><hr><center>nginx</center></body></html>",
        status=401,
        headers=[("www-authenticate", 'Basic realm="x"')],
    ),
    _login(
        "in German",
        page(
            "Anmelden",
            "<h1>Anmelden</h1><p>Bitte melden Sie sich an, um fortzufahren.</p><form><input name=u>"
            "<input type=password name=p><button>Anmelden</button></form><a href=#>Passwort vergessen?"
            "</a>",
        ),
    ),
    _login(
        "in Spanish",
        site(
            "Iniciar sesión", f"<h1>Iniciar sesión</h1><p>Inicia sesión para ver esto.</p>{_FORM}"
        ),
    ),
    _login(
        "wordpress password protected",
        site(
            "Protected: Plans",
            "<h1>Protected: Plans</h1><p>This content is password protected. To view it please enter "
            "your password below:</p><form><input type=password name=post_password><input type=submit>"
            "</form>",
        ),
    ),
]


def _parked(name: str, html: str, **more: object) -> Page:
    return Page(name, Verdict.PARKED, html, **more)  # type: ignore[arg-type]


PARKED = [
    _parked(
        "sedo",
        page(
            "example-ferry.com - This website is for sale! - example ferry Resources and Information.",
            "<h1>example-ferry.com</h1><p>The domain example-ferry.com is for sale by its owner.</p>"
            "<h2>Related searches</h2><ul><li><a href=1>Ferry tickets</a><li><a href=2>Cruises</a></ul>"
            "<p>This page is provided courtesy of Sedo Domain Parking.</p><script "
            "src=//img.sedoparking.com/js/jquery.js></script>",
        ),
    ),
    _parked(
        "registrar's script",
        '<!DOCTYPE html><html><head><script>window.onload=function(){window.location.href="/lander"}'
        "</script></head></html>",
    ),
    _parked(
        "registrar's notice",
        page(
            "example-ferry.com",
            "<p>This Web page is parked for FREE, courtesy of Registrar.</p><p>Is this your domain? "
            "Let's turn it into a website!</p><h2>Would you like to buy this domain?</h2>",
        ),
    ),
    _parked(
        "just registered",
        page(
            "Registrant: example-ferry.com",
            "<h1>example-ferry.com</h1><p>This domain was recently registered at Namecheap. Please "
            "check back later!</p>",
        ),
    ),
    _parked(
        "for sale with an offer form",
        page(
            "example-ferry.com is for sale | Marketplace",
            "<h1>example-ferry.com</h1><p>This premium domain name may be available for purchase. Make "
            "an offer or buy now for 2,888 USD.</p><form><input name=offer><input type=email><button>"
            "Get a quote</button></form><p>Secure payments, fast transfer.</p>",
        ),
    ),
    _parked(
        "adverts in frames",
        page(
            "example-ferry.com",
            "<div id=ads></div><script src=https://www.google.com/adsense/domains/caf.js></script>"
            "<script>var p='parkingcrew.net'</script>",
        ),
    ),
    _parked(
        "expired",
        page(
            "Domain expired",
            "<h1>This domain has expired</h1><p>If you are the owner, please log in to your account to "
            "renew it. The domain registration has lapsed.</p>",
        ),
    ),
    _parked(
        "nginx",
        page(
            "Welcome to nginx!",
            "<h1>Welcome to nginx!</h1><p>If you see this page, the nginx web server is successfully "
            "installed and working. Further configuration is required.</p><p>For online documentation "
            'please refer to <a href="http://nginx.org/">nginx.org</a>.</p><p><em>Thank you for using '
            "nginx.</em></p>",
        ),
    ),
    _parked(
        "apache on Debian",
        page(
            "Apache2 Debian Default Page: It works",
            "<div>Apache2 Debian Default Page</div><div>It works!</div><p>This is the default welcome "
            "page used to test the correct operation of the Apache2 server after installation on Debian "
            "systems. If you can read this page, it means that the Apache HTTP server installed at this "
            "site is working properly. You should replace this file (located at "
            "/var/www/html/index.html) before continuing.</p><p>If you are a normal user of this web "
            "site and don't know what this page is about, this probably means that the site is "
            "unavailable due to maintenance.</p><h2>Configuration Overview</h2><p>"
            + "The configuration is split into several files that suit the tools of the system. "
            * 14
            + "</p>",
        ),
    ),
    _parked("apache, the short one", "<html><body><h1>It works!</h1></body></html>"),
    _parked(
        "iis",
        page(
            "IIS Windows Server",
            '<div id=container><a href="http://go.microsoft.com/fwlink/?linkid=66138"><img '
            'src="iisstart.png" alt=IIS></a></div>',
        ),
    ),
    _parked(
        "test page of a distribution",
        page(
            "HTTP Server Test Page powered by CentOS",
            "<h1>Testing 123..</h1><p>This page is used to test the proper operation of the HTTP server "
            "after it has been installed. If you can read this page it means that this site is working "
            "properly.</p><h2>Just visiting?</h2><p>The website you just visited is either experiencing "
            "problems or is undergoing routine maintenance.</p><h2>Are you the Administrator?</h2><p>"
            "You should add your website content to the directory /var/www/html/.</p>",
        ),
    ),
    _parked(
        "default page of a control panel",
        page(
            "Default Web Site Page",
            "<h1>SORRY!</h1><p>If you are the owner of this website, please contact your hosting "
            "provider: webmaster@example.org</p><p>It is possible you have reached this page because: "
            "The IP address has changed. There has been a server misconfiguration.</p>",
        ),
        url="https://example.org/cgi-sys/defaultwebpage.cgi",
    ),
    _parked(
        "account suspended",
        page(
            "Account Suspended",
            "<h1>This Account has been suspended.</h1><p>Contact your hosting provider for more "
            "information.</p>",
        ),
    ),
    _parked(
        "hosting placeholder",
        page(
            "Welcome to example-ferry.com",
            "<h1>Future home of something quite cool.</h1><p>If you're the site owner, log in to "
            "launch this site. If you are a visitor, check back soon.</p>",
        ),
    ),
    _parked(
        "coming soon",
        page("Coming Soon", "<h1>Coming soon</h1><p>Our new website is being built.</p>"),
    ),
    _parked(
        "for sale in German",
        page(
            "example-ferry.de steht zum Verkauf",
            "<h1>example-ferry.de</h1><p>Diese Domain steht zum Verkauf. Jetzt Angebot abgeben!</p>",
        ),
    ),
    _parked(
        "caddy",
        page(
            "Caddy works!",
            "<h1>Congratulations!</h1><p>Your web server is working. Caddy is serving this page. Now "
            "upload your site's files to /usr/share/caddy.</p>",
        ),
    ),
]


def _error(name: str, html: str, **more: object) -> Page:
    return Page(name, Verdict.ERROR_PAGE, html, **more)  # type: ignore[arg-type]


ERRORS = [
    _error(
        "500 with 200",
        page(
            "500 Internal Server Error",
            "<h1>Internal Server Error</h1><p>The server encountered an internal error or "
            "misconfiguration and was unable to complete your request.</p>",
        ),
    ),
    _error(
        "502 of nginx",
        "<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1>"
        "</center><hr><center>nginx/1.25</center></body></html>",
    ),
    _error(
        "503 of varnish",
        page(
            "503 Backend fetch failed",
            "<h1>Error 503 Backend fetch failed</h1><p>Backend fetch failed</p><h3>Guru Meditation:"
            "</h3><p>XID: 123456</p><hr><p>Varnish cache server</p>",
        ),
    ),
    _error(
        "python traceback",
        page(
            "KeyError at /articles/seven",
            "<h1>KeyError at /articles/seven</h1><pre>Traceback (most recent call last):\n  File "
            '"/srv/app/views.py", line 12, in show\n    return items[key]\nKeyError: 7</pre>',
        ),
    ),
    _error(
        "java stack trace",
        page(
            "HTTP Status 500 – Internal Server Error",
            "<h1>HTTP Status 500 – Internal Server Error</h1><p><b>Exception</b></p><pre>"
            "java.lang.NullPointerException\n\tat org.example.web.Show.get(Show.java:41)\n\tat "
            "javax.servlet.http.HttpServlet.service(HttpServlet.java:622)</pre>",
        ),
    ),
    _error(
        "whitelabel",
        "<html><body><h1>Whitelabel Error Page</h1><p>This application has no explicit mapping for "
        "/error, so you are seeing this as a fallback.</p><div>There was an unexpected error (type="
        "Internal Server Error, status=500).</div></body></html>",
    ),
    _error(
        "asp.net",
        page(
            "Runtime Error",
            "<h1>Server Error in '/' Application.</h1><h2><i>Runtime Error</i></h2><b>Description: </b>"
            "An application error occurred on the server. The current custom error settings for this "
            "application prevent the details from being viewed remotely.",
        ),
    ),
    _error(
        "php fatal error",
        "<br />\n<b>Fatal error</b>:  Uncaught Error: Call to undefined function show() in "
        "/var/www/app/index.php:12\nStack trace:\n#0 {main}\n  thrown in <b>/var/www/app/index.php</b> "
        "on line <b>12</b><br />",
    ),
    _error(
        "database connection of wordpress",
        page("Database Error", "<h1>Error establishing a database connection</h1>"),
    ),
    _error(
        "critical error of wordpress",
        page(
            "WordPress › Error",
            '<div class="wp-die-message"><p>There has been a critical error on this website.</p><p><a '
            'href="https://wordpress.org/support/">Learn more about troubleshooting.</a></p></div>',
            '<meta name="robots" content="noindex">',
        ),
    ),
    _error(
        "drupal",
        "The website encountered an unexpected error. Please try again later.<br><br>"
        "<em>PDOException</em>: SQLSTATE[HY000] [2002] Connection refused in <em>PDO-&gt;__construct()"
        "</em>",
    ),
    _error(
        "sql error",
        page(
            "Products",
            "<p>You have an error in your SQL syntax; check the manual that corresponds to your MySQL "
            "server version for the right syntax to use near '' at line 1</p>",
        ),
    ),
    _error(
        "maintenance",
        page(
            "Maintenance",
            "<h1>We'll be back soon!</h1><p>Sorry for the inconvenience but we're performing some "
            "maintenance at the moment. We'll be back online shortly!</p>",
        ),
    ),
    _error(
        "maintenance in the site's template",
        site(
            "Scheduled maintenance - Example",
            "<h1>Scheduled maintenance</h1><p>Our shop is currently down for scheduled maintenance and "
            "will return on Monday.</p>",
        ),
    ),
    _error(
        "maintenance in German",
        page(
            "Wartungsarbeiten",
            "<h1>Wartungsarbeiten</h1><p>Unsere Website ist wegen Wartungsarbeiten nicht erreichbar."
            "</p>",
        ),
    ),
    _error(
        "something went wrong",
        site(
            "Example",
            "<h1>Oops! Something went wrong</h1><p>An unexpected error has occurred. Our team has been "
            "notified. Please try again later.</p>",
        ),
    ),
    _error(
        "rails",
        page(
            "We're sorry, but something went wrong (500)",
            "<h1>We're sorry, but something went wrong.</h1><p>If you are the application owner check "
            "the logs for more information.</p>",
        ),
    ),
    _error(
        "heroku",
        page(
            "Application error",
            '<iframe src="//www.herokucdn.com/error-pages/application-error.html"></iframe>',
        ),
    ),
    _error(
        "next client exception",
        page(
            "Shop",
            '<div id="__next"><h2>Application error: a client-side exception has occurred (see the '
            "browser console for more information).</h2></div><script src=/_next/static/x.js></script>",
        ),
    ),
    _error(
        "cloudflare 522",
        page(
            "example.org | 522: Connection timed out",
            "<div id=cf-wrapper><h1>Connection timed out Error code 522</h1><h2>What happened?</h2><p>"
            "The initial connection between Cloudflare's network and the origin web server timed out. "
            "As a result, the web page can not be displayed.</p></div>",
        ),
    ),
    _error(
        "in Japanese",
        page(
            "メンテナンス中",
            "<h1>ただいまメンテナンス中です</h1><p>ご迷惑をおかけしますが、しばらくお待ちください。</p>",
        ),
    ),
    _error("upstream in a word", "no healthy upstream"),
    _error(
        "in French",
        page("Erreur", "<h1>Erreur interne du serveur</h1><p>Une erreur est survenue.</p>"),
    ),
]


def _missing(name: str, html: str, **more: object) -> Page:
    return Page(name, Verdict.SOFT_404, html, **more)  # type: ignore[arg-type]


MISSING = [
    _missing(
        "plain 404",
        "<html><head><title>404 Not Found</title></head><body><center><h1>404 Not Found</h1></center>"
        "<hr><center>nginx</center></body></html>",
    ),
    _missing(
        "in the site's template",
        site(
            "Page not found - Example",
            "<h1>Page not found</h1><p>The page you are looking for might have been removed, had its "
            "name changed, or is temporarily unavailable.</p><form><input type=search></form>",
        ),
    ),
    _missing(
        "wordpress",
        site(
            "Page not found – Example",
            "<h1>Oops! That page can’t be found.</h1><p>It looks like nothing was found at this "
            "location. Maybe try one of the links below or a search?</p><h2>Recent Posts</h2><ul>"
            + "".join(f"<li><a href=/{n}>A ferry across the river, part {n}</a>" for n in range(12))
            + "</ul>",
        ),
    ),
    _missing(
        "witty",
        site(
            "Example",
            "<h1>Whoops, you seem lost!</h1><p>We can't find the page you're looking for. Perhaps you "
            "mistyped the address?</p>",
        ),
    ),
    _missing("no title says so", page("Example", "<h1>404</h1><p>This page does not exist.</p>")),
    _missing(
        "product gone",
        site(
            "Product not found",
            "<h1>Product not found</h1><p>Sorry, this product is no longer available.</p>",
        ),
    ),
    _missing(
        "no results",
        site(
            "Search results for “xqzt”",
            "<h1>No results found</h1><p>Your search did not match any articles. Try different "
            "keywords.</p>",
        ),
    ),
    _missing(
        "no results, title neutral",
        site(
            "Search - Example",
            "<h1>Search</h1><form><input name=q></form><p>0 results. Sorry, we could not find any "
            "products matching your query.</p>",
        ),
    ),
    _missing(
        "listing expired",
        site(
            "Example Jobs",
            "<h1>This job is no longer available</h1><p>The listing has expired or was removed by the "
            "employer.</p>",
        ),
    ),
    _missing(
        "user unknown",
        site("User not found", "<h2>User not found</h2><p>This account doesn’t exist.</p>"),
    ),
    _missing(
        "German",
        site(
            "Seite nicht gefunden – Beispiel",
            "<h1>Seite nicht gefunden</h1><p>Die von Ihnen gewünschte Seite konnte leider nicht "
            "gefunden werden.</p>",
        ),
    ),
    _missing(
        "French",
        site(
            "Page introuvable",
            "<h1>Oups ! Page introuvable</h1><p>La page que vous recherchez n’existe pas ou plus.</p>",
        ),
    ),
    _missing(
        "Spanish",
        site(
            "Página no encontrada",
            "<h1>Error 404</h1><p>Lo sentimos, la página que buscas no existe.</p>",
        ),
    ),
    _missing(
        "Portuguese",
        site("Página não encontrada", "<h1>Ops!</h1><p>A página não foi encontrada.</p>"),
    ),
    _missing(
        "Italian",
        site("Pagina non trovata", "<h1>404</h1><p>La pagina richiesta non esiste.</p>"),
    ),
    _missing(
        "Dutch",
        site(
            "Pagina niet gevonden", "<h1>Pagina niet gevonden</h1><p>Deze pagina bestaat niet.</p>"
        ),
    ),
    _missing(
        "Russian",
        site(
            "Страница не найдена", "<h1>404</h1><p>К сожалению, такой страницы не существует.</p>"
        ),
    ),
    _missing(
        "Japanese",
        site(
            "ページが見つかりません",
            "<h1>お探しのページは見つかりませんでした</h1><p>URLをご確認ください。</p>",
        ),
    ),
    _missing("Chinese", site("页面不存在", "<h1>抱歉，您访问的页面不存在</h1><p>请返回首页。</p>")),
    _missing(
        "Korean", site("오류", "<h1>페이지를 찾을 수 없습니다</h1><p>주소를 확인해 주세요.</p>")
    ),
    _missing(
        "Polish",
        site("Nie znaleziono strony", "<h1>Nie znaleziono strony</h1><p>Strona nie istnieje.</p>"),
    ),
    _missing(
        "nothing here",
        site("Nothing Found", "<h1>Nothing Found</h1><p>It seems we can’t find what you need.</p>"),
    ),
]


def _nothing(name: str, html: str | bytes) -> Page:
    return Page(name, Verdict.TOO_SMALL, html)


def _no_document(name: str, html: str | bytes) -> Page:
    return Page(name, Verdict.NO_STRUCTURE, html)


EMPTY = [
    _nothing("no bytes", b""),
    _nothing("only blanks", b"  \n\n "),
    _nothing("empty body", page("Home", "")),
    _nothing("empty elements", page("Home", "<div><p></p></div><div>&nbsp;</div>")),
    _nothing("a word", "<html><body><p>ok</p></body></html>"),
    _nothing("a mark", "<html><body><div>.</div></body></html>"),
    _nothing("a test", page("test", "<h1>test</h1>")),
    _no_document("random bytes", bytes((n * 7919 + n * n * 31) % 256 for n in range(3000))),
    _no_document("a picture", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 8),
    _no_document("a fragment of text", "and then the ferry was moved to the other bank"),
    _no_document("json", '{"status": "ok", "items": [{"id": 7, "name": "ferry"}], "next": null}'),
    _no_document("a list in json", '[{"id": 7, "name": "ferry"}, {"id": 8, "name": "bridge"}]'),
    _no_document("a line of a log", "2026-01-01 12:00:00 INFO worker started in 12 ms"),
    _no_document("style sheet", "body { color: red; margin: 0 } .nav { display: none }"),
]

BAD: list[Page] = [*BLOCKED, *SHELLS, *LOGINS, *PARKED, *ERRORS, *MISSING, *EMPTY]


def _good(name: str, html: str | bytes, **more: object) -> Page:
    return Page(name, Verdict.OK, html, **more)  # type: ignore[arg-type]


_SOURCES = "".join(f"<li><a href=/{n}>Crossing the river, chapter {n}</a>" for n in range(30))
JAVADOC = (
    '<script src="script.js"></script><noscript><div>JavaScript is disabled on your browser.</div>'
    "</noscript>" + NAV
)

GOOD: list[Page] = [
    _good(
        "a package without classes, in documentation made of classes",
        page(
            "net.example.spi Class Hierarchy",
            JAVADOC + "<h1>Hierarchy For Package net.example.spi</h1>"
            '<span>Package Hierarchies:</span><ul><li><a href="/all">All Packages</a></li></ul>'
            "<h2>Class Hierarchy</h2><ul><li>java.lang.Object<ul><li>net.example.spi."
            '<a href="Reader.html">Reader</a></li></ul></li></ul>',
        ),
    ),
    _good(
        "what uses an exception, in the same documentation",
        page(
            "Uses of Class java.lang.ArithmeticException",
            NAV + "<h1>Uses of Class<br>java.lang.ArithmeticException</h1>"
            '<p>Packages that use <a href="A.html">ArithmeticException</a></p><a href="lang.html">'
            "java.lang</a><p>Provides classes that are fundamental to the language.</p>",
        ),
    ),
    _good(
        "a module named after an exception",
        page(
            "GHC.Prim.Exception",
            '<div id="content"><p>Primitive exceptions.</p><div><p>raiseOverflow :: a</p>'
            "<p>Raise an overflow.</p><p>raiseUnderflow :: a</p><p>Raise an underflow.</p></div>",
        ),
    ),
    _good(
        "a short list of posts beside a form that subscribes",
        site(
            "Archives for November 2014",
            "<h2>Archives for November 2014</h2>"
            + "".join(f'<p><a href="/p{n}">Post {n}</a> [Read more...]</p>' for n in range(4))
            + '<form action="https://feeds.example/mailverify"><input name="email"></form>',
        ),
    ),
    _good(
        "a node of a manual that is a section of another page, as its address may sound",
        page(
            "XREFassignin",
            '<p>The node you are looking for is at <a href="Evaluation.html#XREFassignin">'
            "XREFassignin</a>.</p>",
            '<meta http-equiv="Refresh" content="0; url=Evaluation.html#XREFassignin">',
        ),
    ),
    _good(
        "article about captchas",
        site(
            "Why captchas ask whether you are a robot",
            "<h1>Why captchas ask whether you are a robot</h1><p>Anyone who reads the web has met the "
            "line “please verify you are human”. A captcha is a small test that should be easy for "
            "people and hard for programs. The first ones showed letters bent out of shape.</p><p>"
            f"{PROSE}</p><p>{PROSE}</p><p>Today a reCAPTCHA mostly watches how the mouse moves.</p>",
        ),
    ),
    _good(
        "documentation of 403",
        site(
            "403 Forbidden - HTTP | Docs",
            "<h1>403 Forbidden</h1><p>The HTTP <code>403 Forbidden</code> client error response status "
            "code indicates that the server understood the request but refused to process it. This "
            "status is similar to 401, except that for 403 authenticating makes no difference. The "
            "request failure is tied to application logic, such as insufficient permissions to a "
            "resource or action.</p><h2>Status</h2><pre>403 Forbidden</pre><h2>Examples</h2><p>The "
            "following example request is made to an API for user management. The request contains a "
            "bearer token, an access credential that lets the server authenticate the client:</p><pre>"
            "DELETE /users/123 HTTP/1.1\nHost: example.com\nAuthorization: Bearer abcd123</pre><p>The "
            "server has authenticated the request, but the action fails due to insufficient rights and "
            "the response body contains a reason for the failure:</p><pre>HTTP/1.1 403 Forbidden\n"
            'Content-Type: application/json\n{"error": "InsufficientPermissions"}</pre><h2>'
            "Specifications</h2><p>HTTP Semantics, section 15.5.4. Clients that receive a 403 response "
            "should expect that repeating the request without modification will fail with the same "
            "error. Server owners may decide to send a 404 response instead of a 403 if acknowledging "
            "the existence of a resource to clients with insufficient privileges is not desired.</p>",
        ),
    ),
    _good(
        "MySQL access denied",
        site(
            "Fixing “Access denied for user root@localhost” in MySQL",
            "<h1>Fixing “Access denied for user 'root'@'localhost'”</h1><p>You type the password, and "
            "MySQL answers <code>ERROR 1045 (28000): Access denied for user 'root'@'localhost' (using "
            "password: YES)</code>. There are three usual reasons.</p><ol><li>The password is wrong."
            "<li>The account may connect from another host only.<li>The plugin is auth_socket, so that "
            "only the system's root may log in.</ol><p>Look at the table of users first, then set the "
            "plugin or the password. Do not forget to flush the privileges afterwards.</p>",
        ),
    ),
    _good(
        "how to enable JavaScript",
        site(
            "How to enable JavaScript in your browser - Help",
            "<h1>How to enable JavaScript in your browser</h1><h2>Chrome</h2><p>Open Settings, choose "
            "Privacy and security, then Site settings. Under Content, choose JavaScript, and select "
            "“Sites can use JavaScript”.</p><h2>Firefox</h2><p>Type about:config in the address bar, "
            "search for javascript.enabled, and set it to true.</p><h2>Safari</h2><p>Open Preferences, "
            "choose Security, and tick Enable JavaScript. Then reload the page.</p>",
        ),
    ),
    _good(
        "forum thread on challenges",
        site(
            "Stuck on “Just a moment...” - Forum",
            "<h1>Stuck on “Just a moment...”</h1><div><b>anna</b> Since yesterday I get “Checking your "
            "browser before accessing” on every page, in a loop. Cookies are enabled. Ray ID "
            "7f1c2d3e4f5a6b7c. What can I do?</div><div><b>bert</b> Same here. For me it went away when "
            "I switched off an extension that changes the user agent.</div><div><b>carla</b> Check the "
            "clock of your computer. Mine was two hours late, and Cloudflare did not accept the token. "
            "After setting it the site opened at once.</div><div><b>anna</b> It was the extension. "
            "Thank you both!</div>",
        ),
    ),
    _good(
        "gallery of 404 pages",
        site(
            "404 page design: 20 examples we love",
            "<h1>404 page design: 20 examples we love</h1><p>A page not found is a small disappointment, "
            "and the good ones make up for it. Here is our gallery.</p>"
            + "".join(
                f"<h2>Studio {n}</h2><img src=/{n}.png><p>A drawing, a joke, and a search.</p>"
                for n in range(20)
            ),
        ),
    ),
    _good(
        "short but real",
        page(
            "Opening hours",
            "<h1>Opening hours</h1><p>Monday to Friday from 9 to 17.</p><p>Call us at 555 0100.</p>",
        ),
    ),
    _good(
        "a few sentences",
        page(
            "Anna Berg",
            "<p>Hi, I am Anna. I build small boats in a shed by the river and write about them here. "
            "You can reach me at anna@example.org.</p>",
        ),
    ),
    _good(
        "documentation of a login",
        site(
            "Logging in - User manual",
            "<h1>Logging in</h1><p>To log in, open the start page and choose <b>Sign in</b> at the top "
            "right. Enter your user name and password, then press Enter. If you have forgotten your "
            "password, choose “Forgot password?” and follow the message that is sent to you.</p><p>"
            "Administrators may require a second factor. In that case a code is asked for after the "
            "password. You must be logged in to change your profile.</p><h2>Single sign-on</h2><p>"
            "With single sign-on you are redirected to your organisation's identity provider. After "
            "that you come back to the page where you started. Sessions end after eight hours.</p>",
        ),
    ),
    _good(
        "login form in the header",
        page(
            "Example Chess Club",
            f"<header>{NAV}<form><input name=u><input type=password name=p><button>Log in</button>"
            "</form></header><h1>Welcome to the chess club</h1><p>We meet on Thursdays at seven in the "
            "library. Beginners are welcome, boards are there, tea is free.</p>" + FOOTER,
        ),
    ),
    _good(
        "login form in a side box",
        page(
            "Example Board",
            f"<div class=top>{NAV}</div><div class=left><form><input name=u><input type=password "
            "name=p><button>Log in</button></form></div><div class=main><h1>Latest topics</h1><ul>"
            f"{_SOURCES}</ul></div>",
        ),
    ),
    _good(
        "captcha in the comment form",
        site(
            "A short note on ferries",
            "<h1>A short note on ferries</h1><p>The last cable ferry of the valley stops in May. It "
            "carried six cars and had one rule: the driver of the first car pulls the bell.</p><h2>Leave "
            "a comment</h2><form action=/comment><textarea></textarea><div class=g-recaptcha></div>"
            "<button>Send</button></form><script src=https://www.google.com/recaptcha/api.js></script>",
        ),
    ),
    _good(
        "news with a noscript",
        site(
            "River at its lowest for forty years",
            f"<noscript>Please enable JavaScript to see our videos.</noscript><h1>River at its lowest "
            f"for forty years</h1><p>{PROSE}</p><p>{PROSE}</p><script src=v.js></script>",
        ),
    ),
    _good(
        "next with content",
        page(
            "Ferries",
            f'<div id="__next">{NAV}<h1>Ferries</h1><p>{PROSE}</p></div><script id=__NEXT_DATA__>{{}}'
            "</script><script src=/_next/static/main-1a2b3c4d.js></script>",
        ),
    ),
    _good(
        "small page drawn on the server",
        page(
            "Tide now",
            "<noscript>You need to enable JavaScript to run this app.</noscript><div id=root><h1>Tide "
            "now</h1><p>High water today at 14:20, low water at 20:41. The wind comes from the south "
            "west with twelve knots, and it will rain in the evening. Small boats should stay in the "
            "harbour.</p></div><script src=/static/js/main.1a2b3c4d.js></script>",
        ),
    ),
    _good(
        "directory listing",
        page(
            "Index of /pub/maps",
            '<h1>Index of /pub/maps</h1><pre><a href="../">../</a>\n'
            + "\n".join(
                f'<a href="map{n}.png">map{n}.png</a>  01-Jan-2026  10{n}' for n in range(9)
            )
            + "</pre>",
        ),
    ),
    _good(
        "empty directory listing",
        page("Index of /new", '<h1>Index of /new</h1><hr><pre><a href="../">../</a></pre><hr>'),
    ),
    _good(
        "domain trading blog",
        site(
            "What makes a domain worth buying?",
            "<h1>What makes a domain worth buying?</h1><p>Every week readers ask me whether the domain "
            "they found is worth its price. A seller writes “this domain is for sale” on a parked page "
            "and waits; most wait for ever. I look at three things: length, the word itself, and who "
            f"else would want it.</p><p>{PROSE}</p><p>If a domain is parked at Sedo, ask for the visits "
            "of the last year before you make an offer. Escrow is worth its fee.</p>",
        ),
    ),
    _good(
        "changelog",
        site(
            "Changelog",
            "<h1>Changelog</h1><h2>2.1.0</h2><ul><li>Fixed: error 500 when a name was empty<li>Fixed: "
            "404 not found for old links<li>Added: maintenance mode<li>Internal server error pages now "
            "show a request id</ul><h2>2.0.1</h2><ul><li>Fixed: access denied for guests<li>Fixed: "
            "too many requests were counted twice<li>Login page is translated</ul>",
        ),
    ),
    _good(
        "stack traces in code",
        site(
            "Error handling - API reference",
            "<h1>Error handling</h1><p>When a call fails, the client raises an exception that holds the "
            "answer of the server. The trace shows where:</p><pre><code>Traceback (most recent call "
            'last):\n  File "app.py", line 3, in main\n    client.get("/x")\nexample.NotFound: 404 Not '
            "Found</code></pre><p>Catch <code>example.Error</code> for all of them. Its attribute "
            "<code>status</code> is the number that the server sent, and <code>retry_after</code> the "
            "seconds to wait, when the server named any. In Java the same looks so:</p><pre><code>"
            "java.lang.IllegalStateException: closed\n\tat org.example.Client.get(Client.java:40)</code>"
            "</pre><p>Calls that are safe to repeat are repeated three times before the exception is "
            "raised, with a pause that doubles. You can change both in the options of the client, for "
            "all calls or for one. Nothing is logged unless you ask for it, and the text of the answer "
            "is never part of the message, since it may hold personal data. See also the page on "
            "timeouts, which says how long a single try may take and what happens to an upload that is "
            "cut short, and the page on sessions, which explains how connections are shared.</p>",
        ),
    ),
    _good(
        "search with results",
        site(
            "Search results for “ferry”",
            f"<h1>Search results for “ferry”</h1><p>30 results found</p><ol>{_SOURCES}</ol>",
        ),
    ),
    _good(
        "out of stock",
        site(
            "Rowing boat, 3 m - Example Shop",
            "<h1>Rowing boat, 3 m</h1><img src=boat.jpg><p>EUR 890.00</p><p>Currently out of stock. "
            "This item is not available at the moment; we will tell you when it is back.</p><p>Made of "
            "larch, with two pairs of oars. Weight 60 kg.</p>",
        ),
    ),
    _good(
        "frameset",
        '<html><head><title>Manual</title></head><frameset cols="20%,80%"><frame src="toc.html"><frame '
        'src="body.html"></frameset></html>',
    ),
    _good(
        "gallery of pictures",
        page("Holiday", "".join(f'<a href="{n}.html"><img src="{n}.jpg"></a>' for n in range(20))),
    ),
    _good("one picture", page("Map", '<img src="map.png" alt="Map of the valley">')),
    _good("list of links", page("Links", f"<ul>{_SOURCES}</ul>")),
    _good(
        "redirect stub",
        '<html><head><meta http-equiv="refresh" content="0; url=new.html"><title>Moved</title></head>'
        '<body>This page is now <a href="new.html">here</a>.</body></html>',
    ),
    _good(
        "redirect stub without text",
        '<html><head><meta http-equiv="refresh" content="0; url=/en/"></head><body></body></html>',
    ),
    _good(
        "short page in Chinese",
        page(
            "联系我们",
            "<h1>联系我们</h1><p>地址：北京市海淀区中关村大街一号。电话：010-5550100。</p>",
        ),
    ),
    _good(
        "short page in Japanese",
        page(
            "会社概要",
            "<h1>会社概要</h1><p>当社は川沿いの小さな造船所です。お問い合わせはお電話でどうぞ。</p>",
        ),
    ),
    _good(
        "contact form",
        site(
            "Contact",
            "<h1>Contact</h1><form><input name=name><input type=email name=mail><textarea></textarea>"
            "<button>Send</button></form>",
        ),
    ),
    _good(
        "registration of a club, in prose",
        site(
            "Join the club",
            "<h1>Join the club</h1><p>Members sail for free. To join, print the form below, sign it and "
            "bring it to the boat house on any Thursday. The fee is thirty a year, half for students."
            "</p>",
        ),
    ),
    _good(
        "status page of a service",
        site(
            "Example status",
            "<h1>All systems operational</h1><ul><li>API: operational<li>Web site: operational</ul>"
            "<h2>Past incidents</h2><p>2 January: the site was down for maintenance from 2 to 3.</p>"
            "<p>29 December: some requests got 502 Bad Gateway for four minutes. A faulty switch was "
            "replaced.</p>",
        ),
    ),
    _good(
        "question about an error page",
        site(
            "nginx - 502 Bad Gateway behind a proxy - Questions",
            "<h1>502 Bad Gateway behind a proxy</h1><p>I run a small app behind nginx. Every few hours "
            "all requests are answered with <code>502 Bad Gateway</code> until I restart the app. In "
            "the log I see “upstream prematurely closed connection”. The app itself writes nothing. "
            "What should I look at?</p><h2>Answer</h2><p>Look at the memory of the machine. If the "
            "kernel ends the app, nginx finds nobody at the other side of the socket. The log of the "
            "kernel tells. If so, give it less to do at a time or more memory, and let the service "
            "manager start it again when it ends.</p>",
        ),
    ),
    _good(
        "policy on cookies",
        site(
            "Cookies",
            "<h1>Cookies</h1><p>We use two cookies. One remembers your basket, the other whether you "
            "closed the notice about cookies. You can delete both at any time. Our shop works without "
            "cookies, save for the basket, which then is emptied when you leave the page.</p>",
        ),
    ),
    _good(
        "song text about being lost",
        page(
            "Lost at the Crossing",
            "<h1>Lost at the Crossing</h1><p>I could not find the road you told me of<br>the river rose "
            "and took the stones away<br>and nothing here remembers what it was<br>before the water came"
            " to stay</p>",
        ),
    ),
    _good(
        "fragment with headings and links",
        '<h2>News</h2><p>The ferry runs again from Monday.</p><a href="/more">More</a>',
    ),
    _good(
        "plain text as a page",
        "<pre>" + PROSE * 3 + "</pre>",
    ),
]


# A second helping, in short: first written to see what the signatures did not know yet.
def _add(verdict: Verdict, html: str | bytes, **more: object) -> None:
    pages = GOOD if verdict is Verdict.OK else BAD
    pages.append(Page(f"{verdict} {len(pages)}", verdict, html, **more))  # type: ignore[arg-type]


# blocked
_add(
    Verdict.BLOCKED,
    page(
        "Please Wait... | Cloudflare",
        "<h1>Please complete the security check to access example.com</h1><h2>Why do I have to complete a CAPTCHA?</h2><p>Completing the CAPTCHA proves you are a human and gives you temporary access to the web property.</p>",
    ),
)
_add(
    Verdict.BLOCKED,
    page(
        "example.com",
        "<h1>Performing security verification</h1><p>This website uses a security service to protect against malicious bots. This page is displayed while the website verifies you are not a bot.</p><script src='/cdn-cgi/challenge-platform/h/g/orchestrate/chl_page/v1'></script>",
    ),
)
_add(
    Verdict.BLOCKED,
    page(
        "Access denied | www.x.com used Cloudflare to restrict access",
        "<h1>Error 1009</h1><h2>Access denied</h2><p>The owner of this website (www.x.com) has banned the country or region your IP address is in (RU) from accessing this website.</p>",
    ),
)
_add(
    Verdict.BLOCKED,
    page(
        "Error",
        "<h1>Access Denied</h1><p>The Amazon CloudFront distribution is configured to block access from your country.</p><p>Generated by cloudfront (CloudFront) Request ID: abc123==</p>",
    ),
    status=403,
)
_add(
    Verdict.BLOCKED,
    page(
        "ERROR: The request could not be satisfied",
        "<h1>403 ERROR</h1><h2>The request could not be satisfied.</h2><hr>Request blocked. We can't connect to the server for this app or website at this time. There might be too much traffic or a configuration error. Try again later, or contact the app or website owner.<pre>Generated by cloudfront (CloudFront) Request ID: zX1y2==</pre>",
    ),
)
_add(
    Verdict.BLOCKED,
    page(
        "",
        "<div id=app><h1>Let's confirm you are human</h1><p>Complete the security check before continuing. This step verifies that you are not a bot.</p><button>Begin</button></div>",
    ),
)
_add(
    Verdict.BLOCKED,
    page(
        "Blocked",
        "<h1>You've been blocked by network security.</h1><p>To continue, log in to your account or use your developer token</p><p>If you think you've been blocked by mistake, file a ticket below and we'll look into it.</p>",
    ),
)
_add(
    Verdict.BLOCKED,
    page(
        "Sorry! Something went wrong!",
        "<p>To discuss automated access to our data please contact api-support@example.com.</p><img src=dog.jpg>",
    ),
    status=503,
)
_add(
    Verdict.BLOCKED,
    page(
        "Verify your identity",
        "<p>Please solve this puzzle so we know you are a real person</p><div id=arkose></div><script src='https://client-api.arkoselabs.com/v2/api.js'></script>",
    ),
)
_add(
    Verdict.BLOCKED,
    page(
        "Bot or not?",
        "<div class=center><p>We think you might be a bot. Slide to complete the puzzle.</p><script src='https://geo.captcha-delivery.com/captcha/'></script></div>",
    ),
)
_add(
    Verdict.BLOCKED,
    page(
        "Too many requests",
        "<h1>429</h1><p>You have made too many requests recently. Wait a bit, then reload.</p>",
    ),
)
_add(
    Verdict.BLOCKED,
    "<html><body><h1>429 Too Many Requests</h1>\nYou have sent too many requests in a given amount of time.\n</body></html>",
)
_add(
    Verdict.BLOCKED,
    page(
        "Unusual activity",
        "<p>We have detected unusual activity from your IP address. Please verify below to continue.</p><form action=/captcha></form>",
    ),
)
_add(
    Verdict.BLOCKED,
    page(
        "Access Restricted",
        "<h1>Access Restricted</h1><p>Access from your location is restricted. Incident: 8f7a6b5c4d3e</p>",
    ),
)
_add(
    Verdict.BLOCKED,
    page(
        "Zugriff verweigert",
        "<h1>Zugriff verweigert</h1><p>Ihre Anfrage wurde aus Sicherheitsgründen blockiert.</p>",
    ),
)
_add(
    Verdict.BLOCKED,
    page(
        "Acceso denegado",
        "<p>Lo sentimos, su dirección IP ha sido bloqueada por actividad sospechosa.</p>",
    ),
)
_add(
    Verdict.BLOCKED,
    page("アクセスが拒否されました", "<p>このページへのアクセス権限がありません。</p>"),
)
_add(
    Verdict.BLOCKED,
    page(
        "Please enable cookies",
        "<h1>Cookies are disabled</h1><p>You need to allow cookies to use this site. Turn on cookies and refresh.</p>",
    ),
)
_add(
    Verdict.BLOCKED,
    page(
        "Service unavailable in your region",
        "<h1>We're sorry</h1><p>Our service isn't available in your country yet.</p>",
    ),
)
_add(
    Verdict.BLOCKED,
    page(
        "Human verification",
        "<p>Before we continue, drag the slider to verify.</p><div id=nc_1_wrapper></div><script src=//g.alicdn.com/sd/ncpc/nc.js></script>",
    ),
)
_add(
    Verdict.BLOCKED,
    page(
        "Security Violation",
        "<h1>Web Application Firewall</h1><p>Your request has been blocked by the security policy. Event ID: 1829382-2839</p>",
    ),
)
_add(
    Verdict.BLOCKED,
    page(
        "DDoS protection by StormWall",
        "<p>Your browser is being checked. Please wait 5 seconds...</p><script>1</script>",
    ),
    status=503,
)
_add(
    Verdict.BLOCKED,
    page(
        "Robot Challenge Screen",
        "<p>Checking the site connection security</p><script>sgcaptcha='x'</script><noscript>enable javascript</noscript>",
    ),
)
_add(
    Verdict.BLOCKED,
    "<html><head><title>Loading...</title></head><body><script>window.KPSDK={};KPSDK.now=1</script><script src='/149e9513-01fa-4fb0-aad4-566afd725d1b/2d206a39-8ed7-437e-a3be-862e0f06eea3/ips.js'></script></body></html>",
    status=429,
)
_add(
    Verdict.BLOCKED,
    site(
        "Download limit exceeded",
        "<h1>Download limit exceeded</h1><p>You have reached the maximum number of page views for today. Try again tomorrow.</p>",
    ),
)
_add(
    Verdict.BLOCKED,
    page(
        "Forbidden",
        "<h1>Forbidden</h1><p>Automated requests are not allowed. Please contact us for API access.</p>",
    ),
)
_add(
    Verdict.BLOCKED,
    page(
        "Access to example.com is blocked",
        "<p>Your organisation's policy blocks this site. Category: streaming. Contact your IT department.</p>",
    ),
)
# shells
_add(
    Verdict.NEEDS_BROWSER,
    page(
        "Twitter-like",
        "<noscript><div><h1>JavaScript is not available.</h1><p>We’ve detected that JavaScript is disabled in this browser. Please enable JavaScript or switch to a supported browser to continue.</p></div></noscript><div id=react-root></div><script src=main.js></script>",
    ),
)
_add(
    Verdict.NEEDS_BROWSER,
    page(
        "App",
        "<div id='svelte'></div><script type=module>import {start} from '/_app/start.js'</script>",
    ),
)
_add(
    Verdict.NEEDS_BROWSER,
    page(
        "Ember",
        "<script src=assets/vendor.js></script><script src=assets/app.js></script><div id=ember-basic-dropdown-wormhole></div>",
    ),
)
_add(
    Verdict.NEEDS_BROWSER,
    page(
        "App", "<div id='app'><div class=loader></div></div><script src=/js/app.12ab.js></script>"
    ),
)
_add(
    Verdict.NEEDS_BROWSER,
    page("", "<body ng-app=main><div ng-view></div><script src=angular.js></script>"),
)
_add(
    Verdict.NEEDS_BROWSER,
    page("Docs", "<div id='swagger-ui'></div><script src=swagger-ui-bundle.js></script>"),
)
_add(
    Verdict.NEEDS_BROWSER,
    page(
        "Shop",
        "<div id=root><header></header><div class=skeleton></div></div><noscript>Your browser does not support JavaScript!</noscript><script src=x.js></script>",
    ),
)
_add(
    Verdict.NEEDS_BROWSER,
    page(
        "Store",
        "<h3>JavaScript seems to be disabled in your browser.</h3><p>For the best experience on our site, be sure to turn on Javascript in your browser.</p><div class=page-wrapper></div><script src=a.js></script>",
    ),
)
_add(
    Verdict.NEEDS_BROWSER,
    page(
        "Portal",
        "<div class=preloader><img src=spinner.gif></div><div id=app></div><script src=a.js></script>",
    ),
)
_add(
    Verdict.NEEDS_BROWSER,
    page("Webmail", "<p>Chargement en cours...</p><script src=a.js></script>"),
)
_add(
    Verdict.NEEDS_BROWSER,
    page(
        "X",
        "<div id=app></div><noscript>Veuillez activer JavaScript pour continuer.</noscript><script src=a.js></script>",
    ),
)
_add(
    Verdict.NEEDS_BROWSER,
    page(
        "Gatsby",
        "<div id='___gatsby'><div id='gatsby-focus-wrapper'></div></div><noscript id=gatsby-noscript>This app works best with JavaScript enabled.</noscript><script src=app-1.js></script>",
    ),
)
_add(Verdict.NEEDS_BROWSER, page("A", "<p>Sorry, you need JavaScript to view this site.</p>"))
_add(
    Verdict.NEEDS_BROWSER,
    page("Loading…", "<div>Loading application, one moment…</div><script src=a.js></script>"),
)
# login
_add(
    Verdict.LOGIN_WALL,
    page(
        "Login",
        "<div class=card><form action=/session method=post><input type=text name=login><input type=password name=password><input type=submit value='Sign in'></form><p>New to Forge? <a href=/join>Create an account</a>.</p></div>",
    ),
)
_add(
    Verdict.LOGIN_WALL,
    page(
        "Facebook-like",
        "<p>You must log in to continue.</p><form><input name=email><input type=password name=pass><button>Log In</button></form><a href=/recover>Forgotten account?</a> <a href=/reg>Sign up</a>",
    ),
)
_add(
    Verdict.LOGIN_WALL,
    page(
        "Instagram-like",
        "<div>Log in to see photos and videos from friends.</div><form><input><input type=password></form>",
    ),
)
_add(
    Verdict.LOGIN_WALL,
    page(
        "Outlook",
        "<form><input type=password name=passwd><input name=username></form><div>Domain\\user name:</div><div>Password:</div>",
    ),
)
_add(
    Verdict.LOGIN_WALL,
    site(
        "Restricted area",
        "<h1>Restricted area</h1><p>This page is available to registered users only. <a href=/login>Sign in</a> or <a href=/register>create an account</a> to continue.</p>",
    ),
)
_add(
    Verdict.LOGIN_WALL,
    page(
        "Redirecting",
        "<p>You are being redirected to the login page.</p><script>location.href='https://sso.example.com/login?service=x'</script>",
    ),
)
_add(
    Verdict.LOGIN_WALL,
    page(
        "Sign In · GitForge",
        "<h1>GitForge</h1><p>You need to sign in or sign up before continuing.</p><form><input name=u><input type=password></form>",
    ),
)
_add(
    Verdict.LOGIN_WALL,
    page(
        "Connexion",
        "<h1>Connexion</h1><form><input name=id><input type=password name=mdp></form><a href=#>Mot de passe oublié ?</a>",
    ),
)
_add(
    Verdict.LOGIN_WALL,
    page("用户登录", "<h1>用户登录</h1><form><input name=u><input type=password></form>"),
)
_add(
    Verdict.LOGIN_WALL,
    page(
        "ログイン",
        "<p>続けるにはログインしてください</p><form><input name=u><input type=password></form>",
    ),
)
_add(
    Verdict.LOGIN_WALL,
    site(
        "Premium: The bridge - Times",
        "<h1>The bridge that never was</h1><p>"
        + PROSE[:250]
        + "</p><h3>This content is for members only</h3><p>Log in or subscribe to read the full story. Already have an account? Log in.</p>",
    ),
)
_add(
    Verdict.LOGIN_WALL,
    page(
        "Sign in - Google Accounts",
        "<h1>Sign in</h1><p>Use your Google Account</p><form><input type=email><p>Forgot email?</p><p>Not your computer? Use Guest mode to sign in privately.</p><button>Next</button></form><script src=x.js></script>",
    ),
)
_add(
    Verdict.LOGIN_WALL,
    page(
        "Private site",
        "<h1>Private Site</h1><p>This site is currently private. Log in to WordPress.com to request access.</p>",
    ),
)
_add(
    Verdict.LOGIN_WALL,
    page(
        "CAS – Central Authentication Service",
        "<h2>Enter Username &amp; Password</h2><form id=fm1><input name=username><input type=password name=password><input type=hidden name=execution value=e1></form><p>For security reasons, please log out and exit your web browser when you are done accessing services that require authentication!</p>",
    ),
)
_add(
    Verdict.LOGIN_WALL,
    "<html><body onload='document.forms[0].submit()'><form action='https://login.microsoftonline.com/x/saml2' method=post><input type=hidden name=SAMLRequest value=x></form></body></html>",
)
# parked
_add(
    Verdict.PARKED,
    page(
        "example.com",
        "<h1>example.com</h1><p>This domain is parked free of charge with NameSilo.com.</p><p>Buy this domain.</p>",
    ),
)
_add(
    Verdict.PARKED,
    page(
        "HugeDomains.com - FerryShop.com is for sale (Ferry Shop)",
        "<h1>FerryShop.com</h1><p>This domain is for sale: $2,595</p><p>Buy now for $2,595 or pay $108.13 per month for 24 months</p><p>Instant access to the domain. Safe and secure shopping since 2005.</p>",
    ),
)
_add(
    Verdict.PARKED,
    page(
        "ferry.io",
        "<p>The owner of ferry.io is offering it for sale for an asking price of 999 EUR!</p><script src=//d38psrni17bvxu.cloudfront.net/x.js></script>",
    ),
)
_add(
    Verdict.PARKED,
    page(
        "Domain Default page",
        "<h1>Web Server's Default Page</h1><p>This page is generated by Plesk, the leading hosting automation software. You see this page because there is no Web site at this address.</p>",
    ),
)
_add(
    Verdict.PARKED,
    page(
        "Test Page for the Nginx HTTP Server on Fedora",
        "<h1>Welcome to nginx on Fedora!</h1><p>This page is used to test the proper operation of the nginx HTTP server after it has been installed.</p>",
    ),
)
_add(
    Verdict.PARKED,
    page(
        "Apache Tomcat/9.0.1",
        "<h1>Apache Tomcat/9.0.1</h1><h2>If you're seeing this, you've successfully installed Tomcat. Congratulations!</h2><p>Recommended Reading: Security Considerations HOW-TO</p>",
    ),
)
_add(
    Verdict.PARKED,
    page(
        "Under Construction",
        "<h1>Site Under Construction</h1><p>This site is under construction. Please visit again later.</p>",
    ),
)
_add(
    Verdict.PARKED,
    page(
        "Index",
        "<h1>Hosting24</h1><p>Your website is up and running! Upload your website files to public_html to replace this page.</p>",
    ),
)
_add(
    Verdict.PARKED,
    page(
        "ferry.de",
        "<p>Hier entsteht eine neue Internetpräsenz.</p><p>Diese Domain wurde bei Strato registriert.</p>",
    ),
)
_add(
    Verdict.PARKED,
    page(
        "ferry.fr",
        "<h1>Félicitations ! Votre domaine a bien été créé chez OVHcloud !</h1><p>Ce nom de domaine est réservé.</p>",
    ),
)
_add(
    Verdict.PARKED,
    page(
        "Suspended Domain",
        "<p>This domain has been suspended. Registrant verification pending. Please contact your registrar.</p>",
    ),
)
_add(
    Verdict.PARKED,
    page(
        "ferry.com",
        "<div id=related>Related Searches: Ferry Tickets | Cheap Ferries | Boat Hire</div><p>Privacy Policy</p><p>The Sponsored Listings displayed above are served automatically by a third party. Neither the service provider nor the domain owner maintain any relationship with the advertisers.</p>",
    ),
)
_add(
    Verdict.PARKED,
    page(
        "No website configured",
        "<p>There isn't a GitForge Pages site here. If you're trying to publish one, read the full documentation.</p>",
    ),
)
_add(
    Verdict.PARKED,
    page(
        "Welcome",
        "<h1>Your new web server is ready to use.</h1><p>This is a placeholder page installed by the hosting software.</p>",
    ),
)
# error
_add(
    Verdict.ERROR_PAGE,
    page(
        "Error 500 (Server Error)!!1",
        "<p><b>500.</b> <ins>That’s an error.</ins></p><p>The server encountered an error and could not complete your request. If the problem persists, please report your problem. That’s all we know.</p>",
    ),
)
_add(
    Verdict.ERROR_PAGE,
    page(
        "Service Unavailable",
        "<h2>Service Unavailable</h2><hr><p>HTTP Error 503. The service is unavailable.</p>",
    ),
)
_add(
    Verdict.ERROR_PAGE,
    page("504 Gateway Time-out", "<center><h1>504 Gateway Time-out</h1></center>"),
)
_add(
    Verdict.ERROR_PAGE,
    page(
        "Exception",
        "<pre>System.NullReferenceException: Object reference not set to an instance of an object.\n at Shop.Web.Page_Load(Object sender, EventArgs e)</pre>",
    ),
)
_add(
    Verdict.ERROR_PAGE,
    "<b>Warning</b>: mysqli_connect(): (HY000/2002): No such file or directory in <b>/home/x/db.php</b> on line <b>3</b><br>Connection failed: No such file",
)
_add(
    Verdict.ERROR_PAGE,
    page(
        "Oops! An Error Occurred",
        '<h1>Oops! An Error Occurred</h1><h2>The server returned a "500 Internal Server Error".</h2><p>Something is broken. Please let us know what you were doing when this error occurred.</p>',
    ),
)
_add(
    Verdict.ERROR_PAGE,
    page(
        "Whoops! There was an error.",
        "<h1>ErrorException</h1><p>Undefined variable $user (View: /app/resources/views/home.blade.php)</p>",
    ),
)
_add(
    Verdict.ERROR_PAGE,
    page(
        "Site Maintenance",
        "<article><h1>We&rsquo;ll be back soon!</h1><div><p>Sorry for the inconvenience. We&rsquo;re performing some maintenance at the moment.</p></div></article>",
    ),
)
_add(
    Verdict.ERROR_PAGE,
    page(
        "Down for maintenance",
        "<p>Briefly unavailable for scheduled maintenance. Check back in a minute.</p>",
    ),
)
_add(Verdict.ERROR_PAGE, "Error establishing a Redis connection")
_add(
    Verdict.ERROR_PAGE, "<html><body>Database connection failed: Too many connections</body></html>"
)
_add(
    Verdict.ERROR_PAGE,
    page(
        "Error",
        "<p>TypeError: Cannot read properties of undefined (reading 'map')<br> at Home (/app/index.js:12:9)<br> at renderToString (/app/node_modules/react-dom/server.js:1)</p>",
    ),
)
_add(
    Verdict.ERROR_PAGE,
    page(
        "Problem loading",
        "<h1>We're having trouble</h1><p>We are experiencing technical difficulties. Please try again in a few minutes.</p>",
    ),
)
_add(
    Verdict.ERROR_PAGE,
    "<?xml version='1.0'?><Error><Code>InternalError</Code><Message>We encountered an internal error. Please try again.</Message></Error>",
)
_add(
    Verdict.ERROR_PAGE,
    page(
        "Fehler",
        "<h1>Es ist ein Fehler aufgetreten</h1><p>Bitte versuchen Sie es später erneut.</p>",
    ),
)
_add(
    Verdict.ERROR_PAGE,
    page(
        "Sitio en mantenimiento",
        "<p>Estamos realizando tareas de mantenimiento. Volvemos pronto.</p>",
    ),
)
_add(
    Verdict.ERROR_PAGE,
    page(
        "ActionView::Template::Error",
        "<h1>NoMethodError in Articles#show</h1><pre>undefined method `name' for nil:NilClass\napp/views/articles/show.html.erb:3:in `show'</pre>",
    ),
)
_add(
    Verdict.ERROR_PAGE,
    page(
        "Bad Request",
        "<h2>Bad Request - Invalid URL</h2><hr><p>HTTP Error 400. The request URL is invalid.</p>",
    ),
)
_add(
    Verdict.ERROR_PAGE,
    page(
        "Application Error",
        "<h1>Application Error</h1><p>Error ID: 83a1. An error occurred in the application and your page could not be served.</p>",
    ),
)
# soft 404
_add(
    Verdict.SOFT_404,
    page(
        "Error 404 (Not Found)!!1",
        "<p><b>404.</b> That’s an error.</p><p>The requested URL /x was not found on this server. That’s all we know.</p>",
    ),
)
_add(
    Verdict.SOFT_404,
    site(
        "404 | Example",
        "<h1>Hmm, that's weird.</h1><p>We looked everywhere but this page isn't here.</p>",
    ),
)
_add(
    Verdict.SOFT_404,
    site(
        "Example",
        "<div class=error-404><h2>Oh no!</h2><p>The page you requested was not found.</p></div>",
    ),
)
_add(
    Verdict.SOFT_404,
    site(
        "Oops!", "<h1>Oops!</h1><p>We couldn't find that page. Try searching or go back home.</p>"
    ),
)
_add(
    Verdict.SOFT_404,
    site(
        "This page isn't available",
        "<h1>This page isn't available</h1><p>The link you followed may be broken, or the page may have been removed.</p>",
    ),
)
_add(
    Verdict.SOFT_404,
    site(
        "Article removed",
        "<h1>This article has been removed</h1><p>It is no longer available on our site.</p>",
    ),
)
_add(
    Verdict.SOFT_404,
    site(
        "Search results",
        "<h1>Search results for: zzzqq</h1><p>Sorry, but nothing matched your search terms. Please try again with some different keywords.</p>",
    ),
)
_add(
    Verdict.SOFT_404,
    site("Category: Boats", "<h1>Boats</h1><p>No products were found matching your selection.</p>"),
)
_add(
    Verdict.SOFT_404,
    site("Fehler 404", "<h1>Ups!</h1><p>Diese Seite gibt es leider nicht mehr.</p>"),
)
_add(Verdict.SOFT_404, site("Erreur 404", "<h1>Oups</h1><p>La page demandée est introuvable.</p>"))
_add(
    Verdict.SOFT_404,
    site(
        "Ejemplo",
        "<h1>¡Vaya! Página no encontrada</h1><p>No hemos podido encontrar lo que buscas.</p>",
    ),
)
_add(
    Verdict.SOFT_404,
    site(
        "404 Not Found",
        "<h1>お探しのページが見つかりません</h1><p>削除されたか、URLが変更された可能性があります。</p>",
    ),
)
_add(Verdict.SOFT_404, site("出错了", "<h1>404</h1><p>您访问的页面找不到了</p>"))
_add(
    Verdict.SOFT_404,
    site("Sidan hittades inte", "<h1>Sidan kunde inte hittas</h1><p>Kontrollera adressen.</p>"),
)
_add(Verdict.SOFT_404, site("Sayfa bulunamadı", "<h1>404</h1><p>Aradığınız sayfa bulunamadı.</p>"))
_add(
    Verdict.SOFT_404,
    site("Ferry forum", "<h2>Topic not found</h2><p>The topic you requested does not exist.</p>"),
)
_add(
    Verdict.SOFT_404,
    site(
        "Vacancies",
        "<h1>Position filled</h1><p>Sorry, this vacancy is no longer accepting applications and the posting has expired.</p>",
    ),
)
_add(
    Verdict.SOFT_404,
    site(
        "Video unavailable",
        "<h1>Video unavailable</h1><p>This video has been removed by the uploader.</p>",
    ),
)
_add(
    Verdict.SOFT_404,
    site(
        "Keine Ergebnisse",
        "<h1>Suche</h1><p>Leider wurden keine Ergebnisse für „xyz“ gefunden.</p>",
    ),
)
_add(
    Verdict.SOFT_404,
    site(
        "Nothing to see here",
        "<h1>Looks like you took a wrong turn</h1><p>This page has sailed away. The URL may be misspelled.</p>",
    ),
)
_add(Verdict.SOFT_404, site("Not Found", "<p>The requested resource could not be found.</p>"))
_add(
    Verdict.SOFT_404,
    page(
        "The resource cannot be found.",
        "<h1>Server Error in '/' Application.</h1><h2>The resource cannot be found.</h2><b>Description:</b> HTTP 404. The resource you are looking for (or one of its dependencies) could have been removed, had its name changed, or is temporarily unavailable.",
    ),
)
# small
_add(Verdict.TOO_SMALL, "<html></html>")
_add(Verdict.TOO_SMALL, "<!doctype html><title>x</title>")
_add(Verdict.TOO_SMALL, "<html><body><br><br></body></html>")
_add(Verdict.TOO_SMALL, page("", "<p>Hello</p>"))
_add(Verdict.TOO_SMALL, "<div></div>")
_add(Verdict.TOO_SMALL, page("Untitled Document", "<p>&nbsp;</p>"))
_add(
    Verdict.NO_STRUCTURE,
    b"\x1f\x8b\x08\x00" + bytes((i * 37 + i // 3 * 11) % 256 for i in range(900)),
)
_add(
    Verdict.NO_STRUCTURE,
    b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Type /Catalog >>\nendobj\n"
    + bytes(range(128, 256)) * 4,
)
_add(Verdict.NO_STRUCTURE, "just some words without any markup")
_add(Verdict.NO_STRUCTURE, '{"error":"none","data":[1,2,3]}')
_add(Verdict.NO_STRUCTURE, "function x(){return 1}\nvar y = x();")
_add(Verdict.NO_STRUCTURE, "ok")
_add(Verdict.NO_STRUCTURE, "id,name,price\n1,ferry,10\n2,boat,20\n")
# good
_add(
    Verdict.OK,
    site(
        "How to bypass a captcha? We asked five researchers",
        "<h1>How to bypass a captcha?</h1>" + f"<p>{PROSE}</p>" * 2,
    ),
)
_add(
    Verdict.OK,
    site(
        "HTTP 429 Too Many Requests explained",
        "<h1>HTTP 429 Too Many Requests explained</h1><p>The status code 429 tells a client that it has sent too many requests in a given time. The server may add a Retry-After header that says how long to wait. Clients should slow down, spread their calls, and cache what they can. Servers should tell their limits in the documentation.</p><h2>Example</h2><pre>HTTP/1.1 429 Too Many Requests\nRetry-After: 60</pre><p>See also 503 Service Unavailable.</p>",
    ),
)
_add(
    Verdict.OK,
    site(
        "404 Not Found - Glossary",
        "<h1>404 Not Found</h1><p>A 404 is a standard response code meaning that the server cannot find the requested resource. Links that lead to a 404 page are often called broken or dead links and can be subject to link rot.</p><p>A 404 status code only indicates that the resource is missing without indicating if this is temporary or permanent. If a resource is permanently removed, servers should send the 410 (Gone) status instead. Many sites design their own error pages, with a search field or a list of pages that visitors often look for, so that people find their way.</p><h2>See also</h2><ul><li><a href=/410>410 Gone</a><li><a href=/codes>List of status codes</a></ul>",
    ),
)
_add(
    Verdict.OK,
    page(
        "Ferry timetable",
        "<h1>Ferry timetable</h1><table><tr><td>8:00<td>North bank<tr><td>8:30<td>South bank</table>",
    ),
)
_add(
    Verdict.OK,
    page(
        "Bob",
        "<h1>Bob Smith</h1><p>Carpenter in Leeds.</p><a href=mailto:bob@x.org>Write to me</a>",
    ),
)
_add(
    Verdict.OK,
    site(
        "Login API - Docs",
        '<h1>POST /login</h1><p>Logs a user in and returns a token. Send the user name and the password as JSON. Returns 401 Unauthorized when either is wrong.</p><pre>curl -d \'{"user":"x"}\' https://api.example.org/login</pre>',
    ),
)
_add(
    Verdict.OK,
    site(
        "Example Shop",
        "<h1>Spring sale</h1><div class=modal hidden><h2>Sign in</h2><form><input name=u><input type=password name=p></form></div><ul><li><a href=/1>Oars</a> 20<li><a href=/2>Ropes</a> 5<li><a href=/3>Lamps</a> 15<li><a href=/4>Boots</a> 45</ul>",
    ),
)
_add(
    Verdict.OK,
    site(
        "Maintenance of wooden boats",
        "<h1>Maintenance of wooden boats</h1><p>Scrape, sand, oil. Do it every spring, before the boat goes into the water, and again where it is worn.</p>",
    ),
)
_add(
    Verdict.OK,
    site(
        "Domain names for sale: our list",
        "<h1>Our services</h1><p>We broker names for companies. Tell us what you look for and we will find out who owns it, and what they ask.</p><p>Call 555 0100.</p>",
    ),
)
_add(
    Verdict.OK,
    site(
        "Error codes",
        "<h1>Error codes</h1><table><tr><td>E01<td>Internal error, call the service<tr><td>E02<td>Door open<tr><td>E03<td>Water not found, open the tap<tr><td>E04<td>Too hot, wait ten minutes</table>",
    ),
)
_add(
    Verdict.OK,
    site(
        "Red oar - Shop",
        "<h1>Red oar</h1><p>Sold out</p><p>24.00 EUR. Length 2 m, beech.</p><button disabled>Add to basket</button>",
    ),
)
_add(
    Verdict.OK,
    site(
        "Tutorial: install nginx on Debian",
        "<h1>Install nginx on Debian</h1><ol><li>Run apt install nginx.<li>Open http://localhost in a browser. You should see the page “Welcome to nginx!”. If you see this page, the web server is successfully installed.<li>Put your files into /var/www/html.</ol>",
    ),
)
_add(Verdict.OK, page("Enter", "<a href=/home><img src=splash.jpg></a>"))
_add(
    Verdict.OK,
    site(
        "Job: boat builder",
        "<h1>Boat builder (m/f)</h1><p>We look for a boat builder for our yard. You know wood, and you like people. Please apply by mail.</p>",
    ),
)
_add(
    Verdict.OK,
    site(
        "FAQ",
        "<h1>FAQ</h1><h3>I forgot my password. What now?</h3><p>Choose “Forgot your password?” on the login page and follow the mail.</p><h3>Why do I see “access denied”?</h3><p>Your account is not active yet. Wait for the mail, or call us.</p>",
    ),
)
_add(
    Verdict.OK,
    page("Search", "<h1>Search</h1><form><input type=search name=q><button>Go</button></form>"),
)
_add(
    Verdict.OK,
    site(
        "Coming soon to our cinema",
        "<h1>Coming soon</h1>"
        + "".join(
            f"<div><h3>Film {i}</h3><img src={i}.jpg><p>A drama in three acts about a ferry and the man who waits for it.</p></div>"
            for i in range(4)
        ),
    ),
)
_add(Verdict.OK, page("Poem", "<pre>the tide comes in\nthe tide goes out</pre>"))
_add(
    Verdict.OK,
    page(
        "tiny",
        "<h1>Weather</h1><p>Rain until noon, then sun. 14 degrees.</p><script async src=https://www.googletagmanager.com/gtag/js></script>",
    ),
)
_add(Verdict.OK, page("お知らせ", "<p>本日は休業いたします。</p>"))
_add(
    Verdict.BLOCKED,
    page(
        "Access Denied",
        "<h2>Error 16</h2><p>www.site.com</p><p>This request was blocked by our security service</p><p>Incident ID: 1100011-293847</p><p>Powered by Imperva</p>",
    ),
)
_add(
    Verdict.BLOCKED,
    "<html><head><title>Challenge</title></head><body><p>Please stand by while we check your browser...</p><script src=/cdn-cgi/challenge-platform/scripts/invisible.js></script></body></html>",
    status=403,
)
_add(
    Verdict.BLOCKED,
    page(
        "Attention!",
        "<p>Our system thinks you might be a robot! We're really sorry about this, but it's getting harder and harder to tell the difference between humans and bots these days. Please complete the captcha below to prove you're a human and proceed to the page.</p><div class=g-recaptcha></div>",
    ),
)
_add(
    Verdict.BLOCKED,
    page("SafeLine", "<h1>Request blocked by web firewall</h1><p>Access is forbidden.</p>"),
    status=403,
)
_add(
    Verdict.BLOCKED,
    page("Blocked by content filter", "<p>This website has been blocked by court order.</p>"),
)
_add(
    Verdict.ERROR_PAGE,
    page(
        "Bandwidth limit exceeded",
        "<h1>509 Bandwidth Limit Exceeded</h1><p>The server is temporarily unable to service your request due to the site owner reaching his/her bandwidth limit. Please try again later.</p>",
    ),
)
_add(
    Verdict.BLOCKED,
    page(
        "Captcha",
        "<form method=post><p>Type the text shown in the picture</p><img src=/captcha.php><input name=code><input type=submit></form>",
    ),
)
_add(
    Verdict.BLOCKED,
    page(
        "Verifying...",
        "<p>Verifying you are human. This may take a few seconds.</p><div class=cf-turnstile></div>",
    ),
)
_add(
    Verdict.BLOCKED,
    page(
        "Client Challenge",
        "<noscript>JavaScript is disabled in your browser. Please enable JavaScript to proceed.</noscript><div>A required part of this site couldn’t load. This may be due to a browser extension, network issues, or browser settings.</div><script src=/_fs-ch-1T1wmsGaOgGaSxcX/assets/script.js></script>",
    ),
)
_add(
    Verdict.BLOCKED,
    page(
        "Доступ ограничен",
        "<p>Вы отправили слишком много запросов. Подтвердите, что вы не робот.</p>",
    ),
)
_add(
    Verdict.BLOCKED,
    page(
        "Vérification",
        "<h1>Vérification de sécurité</h1><p>Merci de confirmer que vous n'êtes pas un robot.</p>",
    ),
)
_add(
    Verdict.BLOCKED,
    page("Sorry, you're not allowed", "<p>Sorry, you are not allowed to access this page.</p>"),
    status=403,
)
_add(Verdict.BLOCKED, "Too Many Requests\n")
_add(Verdict.BLOCKED, "<html><body><h1>Forbidden</h1></body></html>")
_add(
    Verdict.BLOCKED,
    page("Banned", "<h1>IP banned</h1><p>Your IP 203.0.113.9 was banned for scraping.</p>"),
)
_add(
    Verdict.BLOCKED,
    page("Unsupported region", "<h1>Sorry, this content isn't available in your region.</h1>"),
)
_add(
    Verdict.BLOCKED,
    page(
        "Quick check",
        "<p>Before you continue, let us make sure that it is you. Tick the box.</p><iframe src='https://www.google.com/recaptcha/api2/anchor'></iframe>",
    ),
)
_add(
    Verdict.NEEDS_BROWSER,
    page(
        "Dashboard",
        "<app-root>Loading...</app-root><script src=runtime.js></script><script src=main.js></script>",
    ),
)
_add(Verdict.NEEDS_BROWSER, page("", "<div id=q-app></div><script src=/js/app.js></script>"))
_add(Verdict.NEEDS_BROWSER, page("Maps", "<canvas id=map></canvas><script src=map.js></script>"))
_add(
    Verdict.NEEDS_BROWSER,
    page(
        "Player",
        "<div id=player></div><noscript>Oops, it looks like JavaScript is off. Enable it to listen.</noscript><script src=p.js></script>",
    ),
)
_add(
    Verdict.NEEDS_BROWSER,
    page(
        "Board",
        "<div id=main class=loading><p>Please wait while we load the board...</p></div><script src=b.js></script>",
    ),
)
_add(
    Verdict.NEEDS_BROWSER,
    page(
        "My site",
        "<div id=SITE_CONTAINER></div><script>var m={};</script><script src=x.js></script>",
    ),
)
_add(
    Verdict.NEEDS_BROWSER,
    page(
        "ERP",
        "<h1>ERP</h1><p>This application needs JavaScript to run. Enable JavaScript and reload.</p>",
    ),
)
_add(
    Verdict.NEEDS_BROWSER,
    page(
        "App",
        "<div id='root'><div class='splash'><svg></svg><p>Getting things ready</p></div></div><script type=module src=/assets/index-1a2b.js></script>",
    ),
)
_add(
    Verdict.LOGIN_WALL,
    page(
        "Log In ‹ My Blog — WordPress",
        "<h1>Powered by WordPress</h1><form name=loginform><label>Username or Email Address</label><input name=log><label>Password</label><input type=password name=pwd><input type=submit value='Log In'></form><a href=?lost>Lost your password?</a>",
    ),
)
_add(
    Verdict.LOGIN_WALL,
    page("Jira", "<h1>Log in to your account</h1><form><input name=u><input type=password></form>"),
)
_add(
    Verdict.LOGIN_WALL,
    site(
        "Account required",
        "<h1>Create a free account to keep reading</h1><p>You've reached your limit of free articles. Sign up or log in to continue.</p>",
    ),
)
_add(
    Verdict.LOGIN_WALL,
    page(
        "Authentication",
        "<p>Authentication is needed to access this resource. Choose your institution.</p><select></select><button>Continue</button>",
    ),
)
_add(
    Verdict.LOGIN_WALL,
    page(
        "Members",
        "<p>Sorry, this area is for club members. Please log in with your member number.</p>",
    ),
)
_add(
    Verdict.LOGIN_WALL,
    page(
        "phpMyAdmin",
        "<h1>Welcome to phpMyAdmin</h1><form><label>Username:</label><input name=pma_username><label>Password:</label><input type=password></form>",
    ),
)
_add(
    Verdict.LOGIN_WALL,
    page(
        "Вход",
        "<form><input name=login placeholder=Логин><input type=password><button>Войти</button></form>",
    ),
)
_add(
    Verdict.LOGIN_WALL,
    page("Session expired", "<p>Your session has expired. Please sign in again.</p>"),
)
_add(
    Verdict.PARKED,
    page(
        "Domain for sale", "<h1>ferry.net</h1><p>Interested in this domain? Make us an offer.</p>"
    ),
)
_add(
    Verdict.PARKED,
    page(
        "ferry.net | Dynadot",
        "<p>ferry.net is registered with Dynadot.com. Website coming soon.</p>",
    ),
)
_add(Verdict.PARKED, page("Parked Domain", "<h1>ferry.net</h1><p>This name is parked.</p>"))
_add(
    Verdict.PARKED,
    page("ferry.org", "<h1>The domain ferry.org is available!</h1><p>Secure it today.</p>"),
)
_add(
    Verdict.PARKED,
    page(
        "Welcome to XAMPP",
        "<h1>Welcome to XAMPP for Windows 8.2</h1><p>You have successfully installed XAMPP on this system!</p>",
    ),
)
_add(
    Verdict.PARKED,
    page(
        "Our website is coming soon",
        "<h1>Something new is coming</h1><p>We are working hard. Stay tuned!</p>",
    ),
)
_add(
    Verdict.PARKED,
    page(
        "Website expired",
        "<h1>This website has expired</h1><p>If you are the owner, renew your plan.</p>",
    ),
)
_add(
    Verdict.PARKED,
    page(
        "ferry.es",
        "<h1>Dominio en venta</h1><p>Este dominio está en venta. Contacte con nosotros.</p>",
    ),
)
_add(Verdict.PARKED, page("域名出售", "<h1>ferry.cn</h1><p>该域名正在出售，欢迎咨询。</p>"))
_add(
    Verdict.ERROR_PAGE,
    page(
        "Error",
        "<h1>Sorry, an error occurred</h1><p>We could not process your request. Error ID 8f2.</p>",
    ),
)
_add(Verdict.ERROR_PAGE, page("Server Error", "<h1>Server Error (500)</h1>"))
_add(
    Verdict.ERROR_PAGE,
    page(
        "Proxy Error",
        "<h1>Proxy Error</h1><p>The proxy server received an invalid response from an upstream server. The proxy server could not handle the request. Reason: Error reading from remote server</p>",
    ),
)
_add(
    Verdict.ERROR_PAGE,
    page(
        "Unhandled exception",
        "<h1>Unhandled exception</h1><pre>panic: runtime error: index out of range [3]\n\ngoroutine 1 [running]:\nmain.main()</pre>",
    ),
)
_add(
    Verdict.ERROR_PAGE,
    page(
        "Shop is offline",
        "<h1>We are upgrading</h1><p>Our store is temporarily closed for maintenance. Please come back later.</p>",
    ),
)
_add(
    Verdict.ERROR_PAGE,
    "<br /><b>Parse error</b>:  syntax error, unexpected '}' in <b>/home/site/public_html/index.php</b> on line <b>27</b><br />",
)
_add(
    Verdict.ERROR_PAGE,
    page("Problem", "<p>Sorry, we are having technical problems. Please come back later.</p>"),
)
_add(
    Verdict.ERROR_PAGE,
    page(
        "DNN Error",
        "<h2>An error has occurred.</h2><p>Error: Home is currently unavailable. DotNetNuke.Services.Exceptions.ModuleLoadException: Object reference not set</p>",
    ),
)
_add(
    Verdict.ERROR_PAGE,
    "<html><body><pre>java.sql.SQLException: ORA-01017: invalid username/password; logon denied\n at oracle.jdbc.driver.T4CTTIoer.processError(T4CTTIoer.java:440)</pre></body></html>",
)
_add(Verdict.ERROR_PAGE, page("系统错误", "<p>系统发生错误，请稍后再试。</p>"))
_add(
    Verdict.ERROR_PAGE,
    page(
        "Temporairement indisponible",
        "<p>Le site est en maintenance. Merci de revenir plus tard.</p>",
    ),
)
_add(
    Verdict.SOFT_404,
    site(
        "Uh oh",
        "<h1>Uh oh!</h1><p>The page you were looking for doesn't exist. You may have mistyped the address or the page may have moved.</p>",
    ),
)
_add(
    Verdict.SOFT_404,
    site(
        "File not found · Pages",
        "<h1>404</h1><p><strong>File not found</strong></p><p>The site configured at this address does not contain the requested file.</p>",
    ),
)
_add(
    Verdict.SOFT_404,
    site(
        "Ferry Shop",
        "<h1>Sorry, we can't find what you're looking for</h1><p>Try our categories.</p>",
    ),
)
_add(
    Verdict.SOFT_404,
    site(
        "Ferry Shop", '<h1>Your search for "abcq" returned 0 results</h1><p>Check the spelling.</p>'
    ),
)
_add(Verdict.SOFT_404, site("Content not available", "<p>This content is no longer available.</p>"))
_add(
    Verdict.SOFT_404,
    site(
        "Recipe unavailable",
        "<h1>We can't find this recipe</h1><p>It may have been deleted by its author.</p>",
    ),
)
_add(
    Verdict.SOFT_404,
    site(
        "Diese Seite existiert nicht", "<h1>Hoppla!</h1><p>Wir konnten die Seite nicht finden.</p>"
    ),
)
_add(
    Verdict.SOFT_404,
    site("Ferry", "<h1>Cette page n’existe plus</h1><p>Retournez à l’accueil.</p>"),
)
_add(Verdict.SOFT_404, site("Siden blev ikke fundet", "<h1>Siden blev ikke fundet</h1>"))
_add(
    Verdict.SOFT_404,
    site("Stránka nenalezena", "<h1>Stránka nebyla nalezena</h1><p>Zkontrolujte adresu.</p>"),
)
_add(Verdict.SOFT_404, site("Ничего не найдено", "<p>По вашему запросу ничего не найдено.</p>"))
_add(
    Verdict.SOFT_404, site("Event", "<h1>This event has ended</h1><p>See our upcoming events.</p>")
)
_add(Verdict.SOFT_404, site("Ferry", "<p class=empty>There are no posts here yet.</p>"))
_add(
    Verdict.SOFT_404,
    site("お探しのページはありません", "<p>ページが削除されたか移動した可能性があります。</p>"),
)
_add(
    Verdict.SOFT_404,
    page(
        "The page cannot be found",
        "<h1>The page cannot be found</h1><p>HTTP Error 404 - File or directory not found. Internet Information Services (IIS)</p>",
    ),
)
_add(Verdict.TOO_SMALL, page("Home", "<!-- nothing -->"))
_add(Verdict.TOO_SMALL, "<p></p>")
_add(Verdict.TOO_SMALL, page("a", "b"))
_add(Verdict.NO_STRUCTURE, bytes(range(256)) * 10)
_add(Verdict.NO_STRUCTURE, "hello there this is text")
_add(Verdict.NO_STRUCTURE, '["a","b"]')
_add(
    Verdict.NO_STRUCTURE,
    b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes((i * i) % 251 for i in range(2000)),
)
_add(
    Verdict.OK,
    site(
        "Stack traces and how to read them",
        '<h1>Stack traces and how to read them</h1><p>A stack trace lists the calls that were open when the program stopped. Read it from the bottom.</p><pre>Traceback (most recent call last):\n File "a.py", line 1</pre>',
    ),
)
_add(
    Verdict.OK,
    site(
        "Access control - Handbook",
        "<h1>Access control</h1><p>If you do not have permission to view a page, the message “Access denied” is shown. Ask an administrator to add you to the group.</p>",
    ),
)
_add(
    Verdict.OK,
    site(
        "Cloudflare error 1020 - how we solved it",
        "<h1>Cloudflare error 1020</h1><p>Our users saw “Access denied, error 1020” after we moved. The cause was a firewall rule that we had written for bots: it matched the health check of the load balancer too. We changed the order of the rules and the error was gone.</p>",
    ),
)
_add(
    Verdict.OK,
    site(
        "New arrivals",
        "<h1>New arrivals</h1>"
        + "".join(f"<div><img src={i}.jpg><a href=/{i}>Boat {i}</a> 10.00</div>" for i in range(8)),
    ),
)
_add(
    Verdict.OK,
    site(
        "Register for the regatta",
        "<h1>Register for the regatta</h1><form><input name=n><input type=email><input type=password><button>Register</button></form><p>The regatta starts on 3 May at ten. Boats of all classes may take part. The fee is paid at the harbour office on the day.</p>",
    ),
)
_add(
    Verdict.OK,
    site(
        "Our 404 page won a prize",
        "<h1>Our 404 page won a prize</h1><p>We are proud: the jury liked the sinking boat on our error page most of all. Thank you, Mia, for the drawing!</p>",
    ),
)
_add(
    Verdict.OK,
    page(
        "1996 home page",
        "<center><h1>Welcome to my home page</h1><p>Under construction since 1996! Links: <a href=a>Boats</a> <a href=b>Cats</a> <a href=c>Guestbook</a></p></center>",
    ),
)
_add(
    Verdict.OK,
    site(
        "Album - Waiting",
        "<h1>Just a Moment</h1><p>By The Ferrymen, 2019. Tracks: 1. River, 2. Rope, 3. Stone, 4. Rain. Produced by A. Berg, recorded in the old boat house by the river over three winter nights with a single microphone.</p>",
    ),
)
_add(
    Verdict.OK,
    site(
        "Lost and found",
        "<h1>Lost and found</h1><p>Did you lose something on the ferry? Call 555 0100 or come to the office at the pier.</p>",
    ),
)
_add(
    Verdict.OK,
    site(
        "Privacy",
        "<h1>Privacy</h1><p>This site is protected by reCAPTCHA and the Google Privacy Policy and Terms of Service apply. We keep no data but your address, for as long as you are a customer.</p>",
    ),
)
_add(Verdict.OK, page("Uptime", "<table><tr><td>www<td>OK<tr><td>mail<td>OK</table>"))
_add(
    Verdict.OK,
    site(
        "Questions",
        "<h1>Questions</h1><ul><li><a href=1>Why do I get a 403 Forbidden?</a><li><a href=2>502 Bad Gateway with nginx</a><li><a href=3>How to log in with SSO</a><li><a href=4>Page not found after moving</a></ul>",
    ),
)
_add(
    Verdict.OK,
    site(
        "Server maintenance service",
        "<h1>Server maintenance</h1><p>We look after your servers, day and night. From 99 a month. Call us.</p>",
    ),
)
_add(
    Verdict.OK,
    site(
        "Hotel",
        "<h1>Hotel by the river</h1><img src=a.jpg><img src=b.jpg><p>No rooms available on the chosen date. Other dates: 3 May, 4 May.</p>",
    ),
)
