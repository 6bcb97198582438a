// The checks of scripts/page-test: look.mjs PAGE SCREENSHOTS.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [page_file, screenshots] = process.argv.slice(2).map((name) => path.resolve(name));
const url = pathToFileURL(page_file).href;
mkdirSync(screenshots, { recursive: true });

const profile = mkdtempSync(path.join(tmpdir(), "simtool-page-"));
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: "/usr/bin/chromium",
  headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
let failed = 0;

// A check of its own page, with the window, the colours and the script as asked for.
async function check(name, { width = 1200, height = 900, dark = false, script = true }, body) {
  const complaints = [];
  const other = script ? browser : await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
  });
  const page = script ? await browser.newPage() : await other.newPage({ javaScriptEnabled: false });
  try {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
    page.on("console", (message) => complaints.push(`console: ${message.text()}`));
    page.on("pageerror", (error) => complaints.push(`error: ${error}`));
    page.on("dialog", (dialog) => { complaints.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
    page.on("request", (request) => {
      if (request.url() !== url) complaints.push(`request: ${request.url()}`);
    });
    await page.goto(url);
    await body(page);
    assert.deepEqual(complaints, []);
    console.log(`ok      ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}\n${error.stack}`);
  } finally {
    await page.close();
    if (!script) await other.close();
  }
}

const shot = (page, name, full = true) =>
  page.screenshot({ path: path.join(screenshots, `${name}.png`), fullPage: full });
const open_all = (page) => page.evaluate(() => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
const show_mistakes = (page) => page.evaluate(() => {
  const mistakes = document.querySelector("details.method");
  if (mistakes) mistakes.open = true;
});
const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
// The numbers by which column `index` of the first table is sorted, in the order of its rows.
const column = (page, index) => page.evaluate((index) =>
  Array.from(document.querySelector("table.sortable").tBodies[0].rows,
    (row) => Number(row.cells[index].dataset.sort ?? NaN)), index);
const is_descending = (numbers) => numbers.every((n, place) => place === 0 || numbers[place - 1] >= n);

await check("nothing complains, nothing is loaded, nothing hostile runs", {}, async (page) => {
  await open_all(page);
  await page.waitForTimeout(200);
  await page.reload();
  await show_mistakes(page);
  const title = await page.title();
  assert.notEqual(title, "taken over");
  assert.equal(await page.locator("img, iframe, object, embed, link").count(), 0);
  assert.equal(await page.locator("script").count(), 1);
  await shot(page, "light");
});

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

for (const width of [320, 360, 768]) {
  await check(`a window of ${width} pixels does not scroll sideways`, { width, height: 740 }, async (page) => {
    await open_all(page);
    const [content, window] = await page.evaluate(() => {
      const root = document.documentElement;
      return [Math.max(root.scrollWidth, document.body.scrollWidth), root.clientWidth];
    });
    const wide = await page.evaluate(() => Array.from(document.querySelectorAll("body *"))
      .filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll, nav"))
      .map((e) => e.outerHTML.slice(0, 120)).slice(0, 5));
    assert.ok(content <= window, `${content} > ${window}\n${wide.join("\n")}`);
    assert.deepEqual(wide, []);
    await page.reload();
    await show_mistakes(page);
    if (width === 360) await shot(page, "narrow");
  });
}

await check("dark mode is dark, with contrast", { dark: true }, async (page) => {
  const brightness = (colour) => colour.match(/\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0);
  assert.ok(brightness(await background(page)) < 150);
  const ink = await page.evaluate(() => getComputedStyle(document.body).color);
  assert.ok(brightness(ink) > 600);
  await page.emulateMedia({ colorScheme: "light" });
  assert.ok(brightness(await background(page)) > 600);
  await page.emulateMedia({ colorScheme: "dark" });
  await show_mistakes(page);
  await shot(page, "dark");
});

for (const dark of [false, true]) {
  await check(`text has enough contrast, ${dark ? "dark" : "light"}`, { dark }, async (page) => {
    await open_all(page);
    const weak = await page.evaluate(() => {
      const parse = (colour) => colour.match(/[\d.]+/g).map(Number);
      const luminance = (colour) => {
        const [r, g, b] = colour.map((part) => {
          const share = part / 255;
          return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const behind = (element) => {
        const layers = [];
        for (let at = element; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
        let colour = [255, 255, 255];
        for (const [r, g, b, a = 1] of layers.reverse()) {
          colour = colour.map((part, i) => part * (1 - a) + [r, g, b][i] * a);
        }
        return colour;
      };
      const weak = new Set();
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const element = node.parentElement;
        if (!node.data.trim() || element.closest("script, style, desc, title, caption, .skip")) continue;
        const style = getComputedStyle(element);
        const ink = parse(element.closest("svg") ? style.fill : style.color).slice(0, 3);
        const [a, b] = [luminance(ink), luminance(behind(element))];
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (contrast < 4.5) weak.add(`${contrast.toFixed(2)} ${element.tagName}.${element.className} ${node.data.slice(0, 30)}`);
      }
      return Array.from(weak);
    });
    assert.deepEqual(weak, []);
  });
}

await check("charts have names and descriptions, tables captions", {}, async (page) => {
  const unnamed = await page.evaluate(() => Array.from(document.querySelectorAll("svg[role=img]"))
    .filter((svg) => !svg.getAttribute("aria-labelledby").split(" ")
      .every((id) => document.getElementById(id)?.textContent.trim())).length);
  assert.equal(unnamed, 0);
  assert.ok(await page.getByRole("img").count() > 0);
  assert.equal(await page.locator("table:not(:has(caption))").count(), 0);
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

await browser.close();
rmSync(profile, { recursive: true, force: true });
if (failed > 0) {
  console.log(`${failed} failed; pictures in ${screenshots}`);
  process.exit(1);
}
console.log(`all passed; pictures in ${screenshots}`);
