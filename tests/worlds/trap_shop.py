"""A shop: 120 products, and a list of them for every set of filters, in every order of clicks."""

from __future__ import annotations

import random
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

from tests.worlds.page import Link, Page
from tests.worlds.trap_family import Shown, name_of, written

PRODUCTS = 120
A_PAGE = 20
FILTERS = {
    "colour": ("red", "green", "blue", "black", "white", "grey", "brown", "yellow"),
    "size": ("xs", "s", "m", "l", "xl", "xxl"),
    "brand": ("acme", "borel", "cadmus", "dovre", "elgin", "fermat", "gauss", "hobbs", "ibsen"),
    "material": ("cotton", "wool", "linen", "silk", "hemp", "felt"),
    "price": ("0-20", "20-50", "50-100", "100-200", "200-500"),
}
SORTS = ("price", "name", "newest", "rating")
VIEWS = ("grid", "list", "table")


class Product(NamedTuple):
    path: str
    traits: dict[str, str]


class ShopTrap:
    """`/shop` is the whole list, `?page=2` its next page; every other query selects or sorts."""

    entry = "/shop"

    def __init__(self, seed: int) -> None:
        self._seed = seed
        chance = random.Random(f"{seed}/products")
        self._products = [
            Product(
                f"/shop/item/{number}",
                {name: chance.choice(values) for name, values in FILTERS.items()},
            )
            for number in range(1, PRODUCTS + 1)
        ]
        self._by_path = {product.path: product for product in self._products}
        self.real = frozenset([self.entry, *self._by_path])
        pages = range(2, PRODUCTS // A_PAGE + 1)
        self.ways = frozenset(f"{self.entry}?page={number}" for number in pages)

    def at(self, target: str) -> Shown | None:
        path, _, query = target.partition("?")
        if path == self.entry:
            chosen = dict(parse_qsl(query))
            number = chosen.pop("page", "1")
            if not number.isdecimal() or number == "0":
                return None
            is_whole = not chosen and number == "1"
            return Shown(self._list(chosen, int(number)), self.entry if is_whole else "")
        product = self._by_path.get(path)
        return Shown(self._product(product), path) if product else None

    def _product(self, product: Product) -> Page:
        traits = ", ".join(f"{name} {value}" for name, value in product.traits.items())
        text = (f"A piece of {traits}.", *written(self._seed, product.path, 2))
        place = self._products.index(product)
        others = [self._products[(place + step) % PRODUCTS] for step in (1, 7, 31)]
        links = tuple(self._link(other) for other in others)
        title = f"The {name_of(self._seed, product.path)}"
        return Page(title, text, aside=(*links, Link(self.entry, "All products")))

    def _list(self, chosen: dict[str, str], number: int) -> Page:
        found = [product for product in self._products if _fits(product, chosen)]
        if "sort" in chosen:
            key = f"{self._seed}{chosen['sort']}"
            found.sort(key=lambda product: name_of(self._seed, key + product.path))
        shown = found[(number - 1) * A_PAGE : number * A_PAGE]
        last = -(-len(found) // A_PAGE)
        aside = [_to(chosen | {name: value}) for name in FILTERS for value in FILTERS[name]]
        aside += [_to(_without(chosen, name)) for name in chosen]
        aside += [_to(chosen | {"sort": by}) for by in SORTS]
        aside += [_to(chosen | {"view": view}) for view in VIEWS]
        aside += [
            _to(chosen | ({"page": str(page)} if page > 1 else {}))
            for page in (number - 1, number + 1)
            if 1 <= page <= last
        ]
        text = (f"{len(found)} products.", *written(self._seed, self.entry, 1))
        return Page("Our products", text, tuple(map(self._link, shown)), aside=tuple(aside))

    def _link(self, product: Product) -> Link:
        return Link(product.path, f"The {name_of(self._seed, product.path)}")


def _fits(product: Product, chosen: dict[str, str]) -> bool:
    return all(product.traits[name] == chosen[name] for name in chosen if name in FILTERS)


def _without(chosen: dict[str, str], name: str) -> dict[str, str]:
    return {key: value for key, value in chosen.items() if key != name}


def _to(chosen: dict[str, str]) -> Link:
    """Parameters in the order in which they were chosen: each order is another URL."""
    query = urlencode(chosen)
    return Link(f"/shop?{query}" if query else "/shop", " ".join(chosen.values()) or "All products")
