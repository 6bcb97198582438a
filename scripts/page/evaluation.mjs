// The checks of scripts/page-test: evaluation.mjs PAGE SCREENSHOTS.
import assert from "node:assert/strict";
import { common, open } from "./checks.mjs";

const browser = await open(process.argv[2], process.argv[3]);
const { check } = browser;
const show_mistakes = (page) => page.evaluate(() => {
  const mistakes = document.querySelector("details.method");
  if (mistakes) mistakes.open = true;
});
// The numbers by which column `index` of the first table is sorted, in the order of its rows.
const column = (page, index) => page.evaluate((index) =>
  Array.from(document.querySelector("table.sortable").tBodies[0].rows,
    (row) => Number(row.cells[index].dataset.sort ?? NaN)), index);
const is_descending = (numbers) => numbers.every((n, place) => place === 0 || numbers[place - 1] >= n);

await common(browser, { scripts: 1, show: show_mistakes });

await check("tables are sorted by mouse", {}, async (page) => {
  const head = page.locator("table.sortable").first().locator("thead th").nth(1);
  assert.equal(await head.getAttribute("aria-sort"), null);
  await head.getByRole("button").click();
  assert.equal(await head.getAttribute("aria-sort"), "descending");
  const down = await column(page, 1);
  assert.ok(down.length > 1 && is_descending(down), `${down}`);
  await head.getByRole("button").click();
  assert.equal(await head.getAttribute("aria-sort"), "ascending");
  assert.deepEqual(await column(page, 1), down.toReversed());
});

await check("tables are sorted by keyboard, and where the focus is can be seen", {}, async (page) => {
  const heads = page.locator("table.sortable").first().locator("thead th");
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => document.activeElement?.closest("th")?.cellIndex);
    if (at === 2) break;
  }
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.notEqual(outline, "none");
  await page.keyboard.press("Enter");
  assert.equal(await heads.nth(2).getAttribute("aria-sort"), "descending");
  assert.ok(is_descending(await column(page, 2)));
  await page.keyboard.press("Space");
  assert.equal(await heads.nth(2).getAttribute("aria-sort"), "ascending");
  assert.equal(await page.locator("th[aria-sort]").count(), 1);
});

await check("the page can be read without its script", { script: false }, async (page) => {
  assert.equal(await page.locator("thead button").count(), 0);
  const rows = await page.locator("table.sortable").first().locator("tbody tr").count();
  assert.ok(rows > 0);
  assert.ok(await page.locator("svg[role=img]").first().isVisible());
  const mistakes = page.locator("details.method").first();
  if (await mistakes.count()) {
    await mistakes.locator("summary").first().click();
    assert.ok(await mistakes.locator("article").first().isVisible());
  }
});

await browser.end();
