import { effect, type Signal, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const STORED = "kvdrive.theme";

/** The theme, kept in the browser. Follows the system until the user chooses one. */
export function createTheme(storage: Storage): Signal<Theme> {
  const stored = storage.getItem(STORED);
  const theme = signal<Theme>(stored === "light" || stored === "dark" ? stored : "system");
  effect(() => {
    document.documentElement.dataset["theme"] = theme.value;
    if (theme.value === "system") storage.removeItem(STORED);
    else storage.setItem(STORED, theme.value);
  });
  return theme;
}
