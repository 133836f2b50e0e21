"""`public_address`: the address of a database as it may be printed, kept and compared: without its secrets."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlencode

UNREADABLE: Final = "://…"
"""How the public form of an address ends that cannot be understood. Many addresses share it."""

_HOST: Final = r"(?:[\w.%-]*|\[[\w:.%]+\])(?::\d*)?"
_POSTGRES: Final = re.compile(
    rf"postgres(?:ql)?(?:\+\w+)?://(?:(?P<user>[^:/?#@]*)(?::[^/@]*)?@)?(?P<hosts>{_HOST}(?:,{_HOST})*)"
    r"(?:/(?P<dbname>[^/?#@]*))?(?:\?(?P<query>[^#]*))?"
)
"""An address as the driver reads it. A secret in a wrong place makes an address that this does not match."""

_PUBLIC: Final = ("hostaddr", "options", "service", "sslmode", "sslrootcert", "target_session_attrs")
"""What says which server and which tables are meant. Any other parameter may be a secret, or be one some day."""


def public_address(place: str) -> str:
    """Return a file's name as it was given; an address in one spelling,
    with who connects to what, and without any secret.

    The same database in another spelling has the same public address. Of an address that cannot be understood only
    the scheme is left, before `UNREADABLE`: nobody knows where in it a password may stand.

    >>> public_address("visits.csv")
    'visits.csv'
    >>> public_address("postgresql://db/clinic?user=bob&password=hunter2")
    'postgresql://bob@db/clinic'
    >>> public_address("postgres://bob:hunter2@/clinic?host=/run/postgresql&options=-csearch_path%3Dyear2025")
    'postgresql://bob@/clinic?host=/run/postgresql&options=-csearch_path%3Dyear2025'
    >>> public_address("postgresql://bob:hunter/2@db/clinic")
    'postgresql://…'
    """
    scheme, separator, rest = place.partition("://")
    if not separator or (scheme == "sqlite" and not re.search("[?@#]", rest)):
        return place
    address = _POSTGRES.fullmatch(place)
    if address is None:
        return f"{scheme}{UNREADABLE}" if re.fullmatch(r"[A-Za-z][\w+.-]*", scheme) else f"…{UNREADABLE}"
    return _spell(address)


def _spell(address: re.Match[str]) -> str:
    hosts, ports = [], []
    for host in address["hosts"].split(","):
        name, port = re.fullmatch(r"(.*?)(?::(\d*))?", host).groups()  # type: ignore[union-attr]
        hosts.append(unquote(name.strip("[]")))
        ports.append(port or "")
    parts = {"user": unquote(address["user"] or ""), "dbname": unquote(address["dbname"] or "")}
    parts |= {"host": ",".join(hosts).strip(","), "port": ",".join(ports).strip(",")}
    # What stands behind the question mark wins, as the driver has it.
    parts |= {name: value for name, value in parse_qsl(address["query"] or "") if name in (*parts, *_PUBLIC)}
    user, host, port = parts.pop("user"), parts.pop("host"), parts.pop("port")
    name = parts.pop("dbname") or user
    where = ""
    if re.fullmatch(r"[\w.-]*", host) and re.fullmatch(r"\d*", port):
        where = f"{host}{':' if port else ''}{port}"
    else:
        parts |= {"host": host} | ({"port": port} if port else {})
    login = f"{quote(user, safe='')}@" if user else ""
    more = urlencode(sorted(parts.items()), safe="/")
    return f"postgresql://{login}{where}/{quote(name, safe='')}{'?' if more else ''}{more}"
