/** The part of `User-Agent` that is looked at, in characters. Browsers send less. */
const MAX_USER_AGENT = 512;

/** Browsers and systems by what tells them apart. The first that fits counts: most browsers name others, too. */
const BROWSERS: readonly [RegExp, string][] = [
  [/\bEdgA?(?:iOS)?\//, "Edge"],
  [/\b(?:OPR|Opera)\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:(?:Headless)?Chrome|Chromium|CriOS)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
  [/^curl\//, "curl"],
];
const SYSTEMS: readonly [RegExp, string][] = [
  [/\bAndroid\b/, "Android"],
  [/\b(?:iPhone|iPod)\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bWindows\b/, "Windows"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bLinux\b|\bX11\b/, "Linux"],
];

/**
 * Returns the name of a browser and its system, such as `Firefox on Linux`, as far as `User-Agent` tells. It consists of
 * known names, whatever was sent.
 */
export function browserName(userAgent: string | null): string {
  const text = (userAgent ?? "").slice(0, MAX_USER_AGENT);
  const nameIn = (names: readonly [RegExp, string][]) =>
    names.find(([pattern]) => pattern.test(text))?.[1];
  const [browser, system] = [nameIn(BROWSERS), nameIn(SYSTEMS)];
  if (system === undefined) return browser ?? "Unknown browser";
  return `${browser ?? "Unknown browser"} on ${system}`;
}
