// The checks of scripts/dedup-page-test: dedup.mjs PAGE SCREENSHOTS.
import assert from "node:assert/strict";
import { common, open } from "./checks.mjs";

const browser = await open(process.argv[2], process.argv[3]);
const { check } = browser;

await common(browser, { scripts: 0, show: async () => {} });

await check("hostile texts are shown as texts", {}, async (page) => {
  for (const kind of ["cluster", "removal"]) {
    const shown = await page.evaluate((kind) =>
      Array.from(document.querySelectorAll(`details.${kind} .text`), (text) => text.textContent).join("\n"), kind);
    for (const part of ["<img src=x onerror=", "</script>", "U+202E", "U+0000"]) assert.ok(shown.includes(part), `${kind} ${part}`);
    assert.ok(!/[\u202a-\u202e\u2066-\u2069]/.test(shown));
  }
  const names = await page.locator("h4").allTextContents();
  assert.ok(names.some((name) => name.includes("javascript:document.title")));
  assert.ok(names.every((name) => name.length < 2000));
});

await check("tables fit a telephone", { width: 360, height: 740 }, async (page) => {
  const wide = await page.evaluate(() => Array.from(document.querySelectorAll("main > section > .scroll"))
    .filter((frame) => frame.scrollWidth > frame.clientWidth)
    .map((frame) => `${frame.scrollWidth} > ${frame.clientWidth} ${frame.textContent.slice(0, 40)}`));
  assert.deepEqual(wide, []);
});

await check("sections are reached by keyboard, and where the focus is can be seen", {}, async (page) => {
  const reached = new Set();
  for (let presses = 0; presses < 40; presses += 1) {
    await page.keyboard.press("Tab");
    const [name, outline] = await page.evaluate(() => {
      const at = document.activeElement;
      return [at.getAttribute("href") ?? at.tagName, getComputedStyle(at).outlineStyle];
    });
    assert.notEqual(outline, "none", name);
    reached.add(name);
  }
  for (const name of ["#totals", "#clusters", "#similarity"]) assert.ok(reached.has(name), name);
});

await check("pairs open without a script, and their differences are marked", { script: false }, async (page) => {
  const pairs = page.locator("details.removal");
  assert.ok(await pairs.count() > 3);
  const closed = page.locator("details.removal:not([open])").first();
  const sides = closed.locator(".side");
  assert.ok(!(await sides.first().isVisible()));
  await closed.locator("summary").click();
  const opened = page.locator("details.removal[open]").last().locator(".side");
  assert.ok(await opened.first().isVisible());
  assert.equal(await opened.count(), 2);
  assert.ok(await page.locator("del").count() > 0);
  assert.ok(await page.locator("ins").count() > 0);
});

await browser.end();
