import { type Browser, chromium } from "playwright-core";

/** Where Debian's package puts it. `KVDRIVE_CHROMIUM` names another one. */
const DEBIAN = "/usr/bin/chromium";

/**
 * Starts a browser without a window. `playwright-core` is the driver alone: it brings no browser along, so that the
 * tests run in the one that the system keeps up to date, and it waits for what a page does, which a driver made here
 * would have to learn again.
 *
 * @throws {Error} where there is no Chromium.
 */
export async function startChromium(): Promise<Browser> {
  const executablePath = Deno.env.get("KVDRIVE_CHROMIUM") ?? DEBIAN;
  try {
    await Deno.stat(executablePath);
  } catch (cause) {
    throw new Error(`There is no ${executablePath}: apt-get install chromium`, { cause });
  }
  return await chromium.launch({ executablePath });
}
