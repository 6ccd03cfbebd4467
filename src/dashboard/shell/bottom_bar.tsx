import { Boxes, Ellipsis, HeartPulse } from "lucide";
import type { IconNode } from "lucide";
import { useApp } from "../core/context.ts";
import { links } from "../core/links.ts";
import { Icon } from "../ui/icon.tsx";
import { type MenuItem, openMenu } from "../ui/menu.tsx";
import { accountMenu } from "./account_menu.ts";
import { navigationOf } from "./navigation.ts";

/** The navigation at the bottom of narrow screens: what people use most, and a menu with the rest. */
export function BottomBar({ section, project }: { section: string; project: string | undefined }) {
  const app = useApp();
  const { session, router } = app;
  const [files = [], others = []] = project === undefined ? [] : navigationOf(session);
  const open = (hash: string) => () => router.go(hash);
  const more: MenuItem[] = [
    ...(project === undefined ? [] : others.map(({ section: one, label, icon }) => ({
      label,
      icon,
      run: open(links.section(project, one)),
    }))),
    ...(session.isAdministrator
      ? [
        "-" as const,
        { label: "Projects", icon: Boxes, run: open(links.projects()) },
        { label: "Health", icon: HeartPulse, run: open(links.status()) },
      ]
      : []),
    "-",
    ...accountMenu(app),
  ];
  return (
    <nav class="bottom-bar" aria-label="Sections">
      {project === undefined ? null : files.map(({ section: one, label, icon }) => (
        <BarLink
          key={one}
          href={links.section(project, one)}
          {...{ label, icon }}
          isOpen={one === section}
        />
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

function BarLink({ href, label, icon, isOpen }: {
  href: string;
  label: string;
  icon: IconNode;
  isOpen: boolean;
}) {
  return (
    <a class="bar-entry" href={href} aria-current={isOpen ? "page" : undefined}>
      <Icon of={icon} size={22} />
      {label}
    </a>
  );
}
