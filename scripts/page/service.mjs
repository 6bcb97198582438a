// The checks of scripts/service-page-test: service.mjs SIMTOOL SCREENSHOTS.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const [simtool, screenshots] = process.argv.slice(2).map((name) => path.resolve(name));
mkdirSync(screenshots, { recursive: true });
const work = mkdtempSync(path.join(tmpdir(), "simtool-service-"));
const token = "0123456789abcdef0123456789abcdef";
writeFileSync(path.join(work, "token"), token);

// A service, and the address it says it has.
async function start(...flags) {
  const index = path.join(work, `index-${flags.length}`);
  const words = ["serve", index, "--listen", "127.0.0.1:0", "--method", "simhash", ...flags];
  const child = spawn(simtool, words, { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout })) return { child, url: line };
  throw new Error("no address");
}

const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
let failed = 0;

async function check(name, url, { width = 1100, height = 900, dark = false, expected = [] }, body) {
  const complaints = [];
  const page = await browser.newPage();
  try {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
    page.on("console", (message) => complaints.push(`console: ${message.text()}`));
    page.on("pageerror", (error) => complaints.push(`error: ${error}`));
    page.on("dialog", (dialog) => { complaints.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
    page.on("request", (request) => {
      const asked = request.url();
      if (!asked.startsWith(url) && !asked.startsWith("data:")) complaints.push(`request: ${asked}`);
    });
    await page.goto(url);
    await page.waitForFunction(() => document.getElementById("about").textContent !== "…");
    await body(page);
    const unexpected = complaints.filter((text) => !expected.some((part) => text.includes(part)));
    assert.deepEqual(unexpected, []);
    console.log(`ok      ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}\n${error.stack}`);
  } finally {
    await page.close();
  }
}

const text = "The cat sat on the mat, and the dog, who had seen it all before, slept on in the sun.";
const add = (url, id, body, headers = {}) => fetch(`${url}v1/seen?add=true`, {
  method: "POST", headers, body: JSON.stringify({ id, payload: "a payload", ...body }),
});
const says = (page, id, part) => page.waitForFunction(
  ([id, part]) => document.getElementById(id).textContent.includes(part), [id, part]);
const shot = (page, name) => page.screenshot({ path: path.join(screenshots, `${name}.png`), fullPage: true });

const open = await start();
await add(open.url, "http://cats.example/", { text });
await add(open.url, "<img src=x onerror=alert(1)>", { text: `${text} Indeed.` });

await check("people read how documents are compared, programs all of it", open.url, {}, async (page) => {
  await says(page, "about", "2 documents. Compared by simhash, 64 bits, distance 6; stop words left out.");
  assert.equal(await page.isVisible("#details"), false);
  await page.click("summary");
  await says(page, "details", "simhash:bits=64,distance=6,");
});

await check("two texts, by keyboard alone", open.url, {}, async (page) => {
  await page.keyboard.press("Tab");
  await page.keyboard.type(text);
  await page.keyboard.press("Tab");
  await page.keyboard.type(text);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await says(page, "answer", "First: duplicate");
  await says(page, "answer", "http://cats.example/   distance 0");
  await says(page, "answer", "The two differ in 0 of 64 bits: near");
  await shot(page, "service");
});

await check("one text, by control and enter", open.url, {}, async (page) => {
  await page.focus("#one");
  await page.keyboard.type("Quite another text about ships, harbours and the weather on the high sea.");
  await page.keyboard.press("Control+Enter");
  await says(page, "answer", "First: new");
});

await check("a known document and an unknown one", open.url, { expected: ["404"] }, async (page) => {
  await page.focus("#id");
  await page.keyboard.type("http://cats.example/");
  await page.keyboard.press("Enter");
  await says(page, "known", "a payload");
  await page.fill("#id", "nobody");
  await page.keyboard.press("Enter");
  await says(page, "known", "there is no document of this id");
});

await check("hostile ids are text", open.url, {}, async (page) => {
  await page.fill("#one", `${text} Indeed.`);
  await page.focus("#one");
  await page.keyboard.press("Control+Enter");
  await says(page, "answer", "<img src=x onerror=alert(1)>");
  assert.equal(await page.locator("img").count(), 0);
});

await check("dark mode is dark", open.url, { dark: true }, async (page) => {
  const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const bright = ground.match(/\d+/g).map(Number).reduce((sum, part) => sum + part, 0);
  assert.ok(bright < 150, ground);
  await shot(page, "service-dark");
});

await check("a narrow window does not scroll sideways", open.url, { width: 340, height: 700 }, async (page) => {
  await page.fill("#one", "x".repeat(2000));
  await page.focus("#one");
  await page.keyboard.press("Control+Enter");
  await says(page, "answer", "First:");
  const [inner, whole] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
  assert.ok(whole <= inner, `${whole} of ${inner}`);
  await shot(page, "service-narrow");
});

await check("every field has a label", open.url, {}, async (page) => {
  const unnamed = await page.evaluate(() => [...document.querySelectorAll("input, textarea")]
    .filter((field) => !field.labels.length).length);
  assert.equal(unnamed, 0);
});

const locked = await start("--token-file", path.join(work, "token"));
await check("a token is asked for and used", locked.url, { expected: ["401"] }, async (page) => {
  await page.waitForSelector("#unlock:not([hidden])");
  await page.fill("#token", token);
  await page.keyboard.press("Enter");
  await says(page, "about", "0 documents");
});

await browser.close();
for (const { child } of [open, locked]) child.kill();
rmSync(work, { recursive: true, force: true });
process.exit(failed ? 1 : 0);
