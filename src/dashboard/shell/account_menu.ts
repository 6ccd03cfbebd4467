import { Keyboard, LogOut, Monitor, Moon, Sun, UserRound } from "lucide";
import type { App } from "../core/context.ts";
import { links } from "../core/links.ts";
import { showShortcuts } from "../files/actions/shortcuts.tsx";
import type { MenuItem } from "../ui/menu.tsx";

const THEMES = [
  ["system", "As the system", Monitor],
  ["light", "Light", Sun],
  ["dark", "Dark", Moon],
] as const;

export function accountMenu(app: App): MenuItem[] {
  const { session, theme, router } = app;
  return [
    ...(matchMedia("(pointer: fine)").matches
      ? [{
        label: "Keyboard shortcuts",
        icon: Keyboard,
        shortcut: "?",
        run: () => showShortcuts(app),
      }]
      : []),
    { label: "Sessions", icon: UserRound, run: () => router.go(links.account()) },
    {
      title: "Appearance",
      items: THEMES.map(([value, label, icon]) => ({
        label,
        icon,
        isChecked: theme.value === value,
        run: () => void (theme.value = value),
      })),
    },
    "-",
    {
      label: "Sign out",
      icon: LogOut,
      run: async () => {
        await session.signOut();
        router.replace("#/");
      },
    },
  ];
}
