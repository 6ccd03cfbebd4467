import { Ellipsis } from "lucide";
import { useApp } from "../core/context.ts";
import { Icon } from "../ui/icon.tsx";
import { type MenuItem, openMenu } from "../ui/menu.tsx";
import { accountMenu } from "./account_menu.ts";
import { type NavigationEntry, projectNavigation, serverNavigation } from "./sections.tsx";

/** The navigation at the bottom of narrow screens: what people use most, and a menu with the rest. */
export function BottomBar({ section, project }: { section: string; project: string | undefined }) {
  const app = useApp();
  const { session, router } = app;
  const server = serverNavigation(session);
  const [first = [], others = []] = project === undefined
    ? [server]
    : projectNavigation(session, project);
  const itemsOf = (entries: readonly NavigationEntry[]): MenuItem[] =>
    entries.map(({ label, icon, href }) => ({ label, icon, run: () => router.go(href) }));
  const more = [
    { title: "Project", items: itemsOf(others) },
    { title: "Server", items: project === undefined ? [] : itemsOf(server) },
    { title: "Account", items: accountMenu(app) },
  ].filter(({ items }) => items.length > 0);
  return (
    <nav class="bottom-bar" aria-label="Sections">
      {first.map(({ section: one, label, icon, href }) => (
        <a
          key={one}
          class="bar-entry"
          href={href}
          aria-current={one === section ? "page" : undefined}
        >
          <Icon of={icon} size={22} />
          {label}
        </a>
      ))}
      <button
        type="button"
        class="bar-entry"
        aria-haspopup="menu"
        onClick={(event) => openMenu(app, event.currentTarget, more, "More")}
      >
        <Icon of={Ellipsis} size={22} />
        More
      </button>
    </nav>
  );
}
