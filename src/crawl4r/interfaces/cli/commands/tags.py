"""`crawl4r tags`: the tags of a store, and which documents have them."""

from crawl4r.interfaces.cli.label_commands import commands_for
from crawl4r.storage.organisation import Label

command = commands_for(Label.TAG)
