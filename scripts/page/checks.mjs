// Checks that every page that simtool writes must pass, and the browser in which they run.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const options = {
  executablePath: "/usr/bin/chromium",
  headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"],
};

// Opens a browser for the page in `file`. `check` runs a check in a page of its own, `shot` makes an
// image below `screenshots`, `end` closes the browser and exits.
export async function open(file, screenshots) {
  const url = pathToFileURL(path.resolve(file)).href;
  const directory = path.resolve(screenshots);
  mkdirSync(directory, { recursive: true });
  const profile = mkdtempSync(path.join(tmpdir(), "simtool-page-"));
  const browser = await chromium.launchPersistentContext(profile, options);
  let failed = 0;

  // With the window, the colours and the script as asked for.
  async function check(name, { width = 1200, height = 900, dark = false, script = true }, body) {
    const complaints = [];
    const other = script ? browser : await chromium.launch(options);
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

  const shot = (page, name) =>
    page.screenshot({ path: path.join(directory, `${name}.png`), fullPage: true });

  async function end() {
    await browser.close();
    rmSync(profile, { recursive: true, force: true });
    console.log(failed > 0 ? `${failed} failed; pictures in ${directory}` : `all passed; pictures in ${directory}`);
    process.exit(failed > 0 ? 1 : 0);
  }
  return { check, shot, end };
}

export const open_all = (page) => page.evaluate(() => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

// The checks. `scripts` is the number of scripts of the page; `show` opens what images show.
export async function common({ check, shot }, { scripts, show }) {
  await check("nothing complains, nothing is loaded, nothing hostile runs", {}, async (page) => {
    await open_all(page);
    await page.waitForTimeout(200);
    await page.reload();
    await show(page);
    const title = await page.title();
    assert.notEqual(title, "taken over");
    assert.equal(await page.locator("img, iframe, object, embed, link, form").count(), 0);
    assert.equal(await page.locator("script").count(), scripts);
    assert.equal(await page.locator("[style], [onclick], [onerror], [onload]").count(), 0);
    const links = await page.evaluate(() => Array.from(document.links, (link) => link.getAttribute("href"))
      .filter((link) => !/^(#|https?:\/\/)/i.test(link)));
    assert.deepEqual(links, []);
    await shot(page, "light");
  });

  for (const width of [320, 360, 500, 768, 1280]) {
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
      await show(page);
      if (width === 360) await shot(page, "narrow");
      if (width === 1280) await shot(page, "wide");
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
    await show(page);
    await shot(page, "dark");
  });

  for (const dark of [false, true]) {
    await check(`text has enough contrast, ${dark ? "dark" : "light"}`, { dark }, async (page) => {
      await open_all(page);
      assert.deepEqual(await page.evaluate(weak_text), []);
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
}

// Texts whose contrast with what is behind them is below 4.5. Runs in the page.
function weak_text() {
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
}
