import { type Browser, chromium } from "playwright-core";
import { HANG_GUARD } from "./fixture.ts";

/** The path of Debian's package. The environment variable `KVDRIVE_CHROMIUM` overrides it. */
const DEBIAN = "/usr/bin/chromium";

/**
 * Starts a headless Chromium. `playwright-core` contains no browser, so the tests use the one of the system.
 *
 * @throws {Error} If Chromium is not installed.
 */
export async function startChromium(): Promise<Browser> {
  const executablePath = Deno.env.get("KVDRIVE_CHROMIUM") ?? DEBIAN;
  try {
    await Deno.stat(executablePath);
  } catch (cause) {
    throw new Error(
      `Cannot find ${executablePath}: install Chromium with "apt-get install chromium"`,
      { cause },
    );
  }
  return await chromium.launch({ executablePath, timeout: HANG_GUARD });
}
