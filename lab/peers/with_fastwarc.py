"""Reads the responses of a WARC file with fastwarc; with "main", extracts the main text of pages
with resiliparse, too. Prints records and processor seconds."""

import sys
import time

from fastwarc.warc import ArchiveIterator, WarcRecordType
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import detect_encoding

path, what = sys.argv[1:]
begin = time.process_time()
count = 0
with open(path, "rb") as file:
    for record in ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=True):
        body = record.reader.read()
        count += 1
        if what == "main" and "html" in (record.http_content_type or ""):
            text = body.decode(detect_encoding(body), "replace")
            extract_plain_text(text, main_content=True)
print(count, time.process_time() - begin)
