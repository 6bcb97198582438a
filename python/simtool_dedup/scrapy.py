"""An item pipeline for Scrapy that asks a service ``simtool serve`` about each item, and adds it.

In the settings of a project::

    ITEM_PIPELINES = {"simtool_dedup.scrapy.SeenPipeline": 300}
    SIMTOOL_URL = "http://127.0.0.1:8750"

It needs Scrapy 2.6 or later.
"""

from __future__ import annotations

import logging
import threading
from typing import Any

from simtool_dedup.client import SeenClient, SeenError

try:
    from itemadapter import ItemAdapter
    from scrapy.exceptions import DropItem
except ImportError as error:
    raise ImportError("simtool_dedup.scrapy needs Scrapy: pip install scrapy") from error

try:
    from scrapy.utils.asyncio import run_in_thread
except ImportError:
    # Earlier versions of Scrapy.
    from scrapy.utils.defer import maybe_deferred_to_future
    from twisted.internet.threads import deferToThread

    async def run_in_thread(function: Any, *arguments: Any) -> Any:
        """Call a function in a thread of Twisted."""
        return await maybe_deferred_to_future(deferToThread(function, *arguments))


__all__ = ["SeenPipeline"]

logger = logging.getLogger(__name__)


class SeenPipeline:
    """Drop or mark items whose text a service has seen.

    Each item is looked up and added in one step, by a thread, while the crawl goes on. An item that the
    service cannot answer, or that has no text, is no copy: it goes on unchanged, with a warning. The
    statistics of the crawl count the verdicts (``simtool/new`` and so on), and ``simtool/failed``. The
    crawl does not begin if the service cannot be reached.

    Settings
    --------
    SIMTOOL_URL : str, default "http://127.0.0.1:8750"
        The address of the service.
    SIMTOOL_TOKEN : str, optional
        Its token.
    SIMTOOL_FIELD : str, default "text"
        The field of the text.
    SIMTOOL_HTML : bool, default False
        Whether that field has HTML, of which the service takes the text.
    SIMTOOL_ID : str, default "url"
        The field of the id, usually the URL.
    SIMTOOL_DROP : bool, default True
        Drop copies. Otherwise they get the fields ``duplicate_of`` and ``similarity``, which an item
        of a class has to declare.
    """

    def __init__(self, settings: Any, stats: Any) -> None:
        self.url = settings.get("SIMTOOL_URL", "http://127.0.0.1:8750")
        self.token = settings.get("SIMTOOL_TOKEN")
        self.field = settings.get("SIMTOOL_FIELD", "text")
        self.is_html = settings.getbool("SIMTOOL_HTML", False)
        self.id = settings.get("SIMTOOL_ID", "url")
        self.drops = settings.getbool("SIMTOOL_DROP", True)
        self.stats = stats
        self._local = threading.local()
        self._lock = threading.Lock()
        self._clients: list[SeenClient] = []

    @classmethod
    def from_crawler(cls, crawler: Any) -> SeenPipeline:
        """Make the pipeline of a crawl."""
        return cls(crawler.settings, crawler.stats)

    def open_spider(self, spider: Any = None) -> None:
        """Check that the service answers.

        Raises
        ------
        SeenError
            If it does not, or if the token is wrong.
        """
        with SeenClient(self.url, self.token, retries=3) as client:
            list(client.ask([{"text": ""}]))

    def close_spider(self, spider: Any = None) -> None:
        """Close the connections."""
        for client in self._clients:
            client.close()

    async def process_item(self, item: Any, spider: Any = None) -> Any:
        """Ask about an item and add it.

        Raises
        ------
        DropItem
            For a copy.
        """
        adapter = ItemAdapter(item)
        text, identity = adapter.get(self.field), adapter.get(self.id)
        if isinstance(text, bytes):
            text = text.decode("utf-8", "replace")
        if not isinstance(text, str) or not isinstance(identity, str):
            return self._failed(item, identity, f"the fields {self.field} and {self.id} are no texts")
        document = {"id": identity, "html" if self.is_html else "text": text, "limit": 1}
        try:
            answer = await run_in_thread(self._add, document)
        except SeenError as error:
            return self._failed(item, identity, str(error))
        if "problem" in answer:
            return self._failed(item, identity, answer["problem"]["detail"])
        self.stats.inc_value(f"simtool/{answer['verdict']}")
        if answer["kept"] or not answer["matches"]:
            return item
        match = answer["matches"][0]
        if self.drops:
            raise DropItem(f"a copy of {match['id']} (similarity {match['similarity']})")
        adapter["duplicate_of"] = match["id"]
        adapter["similarity"] = match["similarity"]
        return item

    def _add(self, document: dict[str, Any]) -> dict[str, Any]:
        """Add a document, by the client of this thread."""
        client = getattr(self._local, "client", None)
        if client is None:
            client = self._local.client = SeenClient(self.url, self.token)
            with self._lock:
                self._clients.append(client)
        [answer] = client.add([document])
        return answer

    def _failed(self, item: Any, identity: Any, why: str) -> Any:
        logger.warning("%s is not compared: %s", identity, why)
        self.stats.inc_value("simtool/failed")
        return item
