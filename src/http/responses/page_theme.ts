/**
 * What the pages of the server look like: the colors, the logo and the shapes of the dashboard, whose own files these
 * pages cannot load.
 *
 * @module
 */

/** Names of colors with their values on light and dark screens, as in `src/dashboard/styles/theme.css`. */
export const COLORS: Readonly<Record<string, readonly [light: string, dark: string]>> = {
  "ground": ["#f6f7f9", "#121418"],
  "surface": ["#ffffff", "#1a1d23"],
  "hover": ["#eef0f4", "#262b34"],
  "text": ["#1a1d24", "#e8eaef"],
  "text-soft": ["#5a6170", "#a3abba"],
  "line": ["#e1e4ea", "#2c313b"],
  "line-strong": ["#7d8595", "#7a8394"],
  "accent": ["#4454d6", "#97a3ff"],
  "accent-strong": ["#3543b8", "#b2bbff"],
  "on-accent": ["#ffffff", "#14173a"],
  "bad": ["#b3261e", "#ff9d94"],
  "kind-folder": ["#4454d6", "#97a3ff"],
  "kind-image": ["#a23b8f", "#ee9fdf"],
  "kind-video": ["#a33a2c", "#ff9d8c"],
  "kind-audio": ["#8a5a00", "#f0bd60"],
  "kind-document": ["#1f6b94", "#7cc7ee"],
  "kind-code": ["#176639", "#7fd6a0"],
};

/** The color of the logo. */
const BRAND = "#4454d6";

function variables(theme: 0 | 1): string {
  const all = Object.entries(COLORS).map(([name, values]) => `--${name}:${values[theme]}`);
  return `:root{${all.join(";")}}`;
}

/** The style of all pages: colors for light and dark, text, and forms. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; }
${variables(0)}
@media (prefers-color-scheme: dark) { ${variables(1)} }
* { box-sizing: border-box; }
body { margin: 0; padding: 1rem; background: var(--ground); color: var(--text); font: .9375rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
.brand { display: flex; gap: .625rem; align-items: center; max-width: 24rem; margin: 4vh auto 1rem; font-size: 1.125rem; font-weight: 700; letter-spacing: -.02em; }
main { max-width: 24rem; margin: 0 auto; padding: 1.25rem; border: 1px solid var(--line); border-radius: 12px; background: var(--surface); }
h1 { margin: 0 0 1rem; font-size: 1.375rem; font-weight: 650; line-height: 1.25; letter-spacing: -.015em; overflow-wrap: anywhere; }
p { margin: 0 0 1rem; }
main > :last-child { margin-bottom: 0; }
.wrong { color: var(--bad); }
label { display: block; margin: 0 0 .25rem; font-weight: 550; }
input, button { width: 100%; min-height: 2.75rem; border-radius: 8px; font: inherit; }
input { padding: 0 .75rem; border: 1px solid var(--line-strong); background: var(--surface); color: inherit; }
button { margin-top: 1rem; border: 0; background: var(--accent); color: var(--on-accent); font-weight: 550; cursor: pointer; }
button:hover { background: var(--accent-strong); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
`;

/** The logo of `src/dashboard/styles/icon.svg`. */
export const LOGO =
  `<svg width="28" height="28" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="${BRAND}"/>` +
  '<path d="M7 11.5A2.5 2.5 0 0 1 9.5 9h4l2.5 2.5h6.5A2.5 2.5 0 0 1 25 14v1H7z" fill="#fff" opacity=".55"/>' +
  `<rect x="7" y="14" width="18" height="9.5" rx="2.5" fill="#fff"/><circle cx="21.5" cy="18.75" r="1.5" fill="${BRAND}"/></svg>`;
