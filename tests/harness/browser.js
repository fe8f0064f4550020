// browser.js -- opens the pages of runs in Chromium and uses them: node browser.js SHOTS RUN...
//
// A run named "live" is served by HTTP, with the page of "explore" as what it becomes. A directory named
// "served" holds runs, and is shown by `assay serve` ($ASSAY). Prints what is wrong and exits 1.
"use strict";
const { chromium } = require("playwright-core");
const { spawn } = require("child_process");
const fs = require("fs"), http = require("http"), os = require("os"), path = require("path");

const [shots, ...runs] = process.argv.slice(2);
const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
	"--disable-background-networking", "--disable-component-update", "--disable-sync"];
let bad = 0;

function expect(what, is) {
	if (is)
		return;
	console.log(what);
	bad = 1;
}

// A page that reports its errors, and everything that it loads.
async function open(browser, url, width, scheme) {
	const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme,
		permissions: ["clipboard-read", "clipboard-write"] });
	const page = await context.newPage();

	page.on("pageerror", e => expect(`${url}: ${e.message}`, false));
	page.on("console", m => expect(`${url}: ${m.text()}`, m.type() !== "error"));
	page.on("dialog", d => { expect(`${url}: a dialog`, false); d.dismiss(); });
	page.on("request", r => expect(`${url} loads ${r.url()}`, r.url().startsWith(url.replace(/[^/]*$/, ""))));
	await page.goto(url);
	return page;
}

async function look(browser, run, name, width, scheme) {
	const page = await open(browser, "file://" + run + "/report.html", width, scheme);
	const sizes = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
	const run_json = JSON.parse(fs.readFileSync(run + "/run.json"));

	expect(`${name}: wider than ${width} pixels: ${sizes}`, sizes[0] <= sizes[1]);
	for (const [i, finding] of run_json.findings.entries())
		expect(`${name}: a finding is not shown: ${finding.title}`,
			await page.locator(`#finding-${i + 1} h3`).first().innerText() === finding.title.trim() &&
			await page.locator(`#finding-${i + 1}`).isVisible());
	await page.screenshot({ path: `${shots}/${name}-${width}-${scheme}.png`, fullPage: true });
	await page.context().close();
}

const visible = page => page.locator("article[data-severity]:visible").count();

async function filter(page, name) {
	const all = await visible(page), button = page.locator("#severities button").first();

	if (all < 2) {
		expect(`${name}: a filter for one finding`, await page.locator("#filter").isHidden());
		return;
	}
	await page.fill("#filter input", "surely in no finding");
	expect(`${name}: the filter hides nothing`, await visible(page) === 0);
	await page.fill("#filter input", "");
	expect(`${name}: the filter does not give back`, await visible(page) === all);
	await button.click();
	expect(`${name}: a severity cannot be switched off`, await visible(page) < all);
	await button.click();
	expect(`${name}: nor on again`, await visible(page) === all);
}

async function copy(page, run, name) {
	const folder = JSON.parse(fs.readFileSync(run + "/run.json")).findings[0].folder;
	const details = page.locator("#finding-1 details.program").first();
	const file = await details.locator("summary code").innerText();

	await details.locator("summary").click();
	await details.locator(".copy").click();
	await page.waitForFunction(() => document.querySelector(".copy.done"));
	expect(`${name}: ${file} is not what was copied`,
		await page.evaluate(() => navigator.clipboard.readText()) ===
		fs.readFileSync(path.join(run, folder, file), "utf8"));
}

async function use(browser, run, name) {
	const page = await open(browser, "file://" + run + "/report.html", 1280, "light");

	await filter(page, name);
	if (name !== "races")
		await copy(page, run, name);
	await page.context().close();
}

// Without scripts, and on paper.
async function read_only(browser, run, name) {
	const context = await browser.newContext({ javaScriptEnabled: false });
	const page = await context.newPage();

	await page.goto("file://" + run + "/report.html");
	expect(`${name}: without scripts there are no pictures`, await page.locator("svg").count() > 0);
	expect(`${name}: without scripts there are no findings`,
		await page.locator("article.finding:visible").count() > 0);
	await page.pdf({ path: `${shots}/${name}.pdf` });
	await context.close();
}

async function hostile(browser, run) {
	const page = await open(browser, "file://" + run + "/report.html", 1280, "light");

	expect("hostile: a name became a script", !(await page.title()).startsWith("owned"));
	expect("hostile: a name became an element", await page.locator("img").count() === 0);
	expect("hostile: a name became an attribute", await page.locator("[onclick]").count() === 0);
	expect("hostile: its data cannot be read", await page.evaluate(
		() => JSON.parse(document.getElementById("data").textContent).findings[1].title) === "another");
	await page.context().close();
}

// The page of a run that goes on asks for data.json, until the run has ended.
async function live(browser, run) {
	const after = fs.readFileSync(path.join(run, "../explore/report.html"), "utf8");
	const main = after.slice(after.indexOf("<main>") + 6, after.indexOf("</main>"));
	let asked = 0;
	const server = http.createServer((request, response) => {
		if (request.url.endsWith("/data.json"))
			response.end(JSON.stringify({ running: ++asked < 2, main }));
		else if (request.url.endsWith("/report.html"))
			response.setHeader("content-type", "text/html").end(fs.readFileSync(run + "/report.html"));
		else
			response.writeHead(204).end();
	});

	await new Promise(done => server.listen(0, "127.0.0.1", done));
	const page = await open(browser, `http://127.0.0.1:${server.address().port}/report.html`, 1280, "dark");
	await page.waitForSelector("#finding-1", { timeout: 20000 });
	expect("live: the filter is gone", await page.locator("#filter").isVisible());
	await page.waitForTimeout(5000);
	expect(`live: asked ${asked} times, though the run has ended`, asked === 2);
	await page.context().close();
	server.close();
}

async function fits(page, name) {
	for (const width of [1280, 400])
		for (const colorScheme of ["light", "dark"]) {
			await page.setViewportSize({ width, height: 900 });
			await page.emulateMedia({ colorScheme });
			const sizes = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);

			expect(`${name}: wider than ${width} pixels: ${sizes}`, sizes[0] <= sizes[1]);
			await page.screenshot({ path: `${shots}/${name}-${width}-${colorScheme}.png`, fullPage: true });
		}
}

// A mark that is gone once a page is loaded again.
const mark = page => page.evaluate(() => { window.notLoadedAgain = true; });
const marked = page => page.evaluate(() => window.notLoadedAgain === true);

// The index takes over a run that begins; its page takes over findings and the end of the run.
async function served(browser, dir) {
	const server = spawn(process.env.ASSAY, ["serve", "--port", "0", dir], { stdio: ["ignore", "pipe", "inherit"] });
	const url = await new Promise(done => server.stdout.once("data", d => done(String(d).trim())));
	const page = await open(browser, url, 1280, "light"), listed = fs.readdirSync(dir).length;

	expect("index: runs are missing", await page.locator("#runs tbody tr").count() === listed);
	await mark(page);
	const run = spawn(process.env.ASSAY, ["explore", "reffs!rmdir_full", "--seconds", "1000", "--findings", "100",
		"--out", dir + "/begun"], { stdio: "ignore" });
	await page.waitForSelector("a[href='./begun/report.html']", { timeout: 60000 });
	expect("index: a run appears only after loading it again", await marked(page));
	await fits(page, "index");
	await page.click("a[href='./begun/report.html']");
	await page.waitForSelector("#head.running");
	await mark(page);
	await page.waitForSelector("#finding-1", { timeout: 120000 });
	expect("served: a finding appears only after loading it again", await marked(page));
	const title = await page.locator("#finding-1 h3").innerText();
	await page.locator("#finding-1 details.program summary").first().click();
	const duration = () => page.locator("#head dd").nth(2).innerText(), before = await duration();
	await page.waitForFunction(text => document.querySelectorAll("#head dd")[2].innerText !== text, before, { timeout: 60000 });
	// Its number may have changed, and a simpler one of the same cause may be in its place.
	const same = page.locator("article", { has: page.locator("h3", { hasText: title }) }).first();
	expect("served: what was open is closed by new figures", await same.count() === 0 ||
		await same.locator("details.program").first().evaluate(d => d.open));
	await fits(page, "served");
	run.kill("SIGINT");
	await page.waitForSelector("#head:not(.running)", { timeout: 60000 });
	expect("served: the end appears only after loading it again", await marked(page));
	await page.click("nav a");
	await page.waitForSelector("#runs");
	server.kill("SIGINT");
	expect("serve does not end cleanly", await new Promise(done => server.once("exit", done)) === 0);
	await page.context().close();
}

(async () => {
	const profile = fs.mkdtempSync(path.join(os.tmpdir(), "assay-browser-"));
	const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: flags, env: { ...process.env, HOME: profile } });

	for (const run of runs) {
		const name = path.basename(run);

		if (name === "hostile")
			await hostile(browser, run);
		else if (name === "live")
			await live(browser, run);
		else if (name === "served")
			await served(browser, run);
		else
			for (const width of [1280, 400])
				for (const scheme of ["light", "dark"])
					await look(browser, run, name, width, scheme);
		if (["explore", "crash", "conform", "races"].includes(name)) {
			await use(browser, run, name);
			await read_only(browser, run, name);
		}
	}
	await browser.close();
	fs.rmSync(profile, { recursive: true, force: true });
	process.exit(bad);
})();
