import { Activity, Boxes, ChevronsUpDown, HeartPulse, UserRound } from "lucide";
import type { IconNode } from "lucide";
import { dataOf } from "../core/api.ts";
import { useApp } from "../core/context.ts";
import { links } from "../core/links.ts";
import { Icon, Logo } from "../ui/icon.tsx";
import { openMenu } from "../ui/menu.tsx";
import { accountMenu } from "./account_menu.ts";
import { navigationOf } from "./navigation.ts";

interface SidebarProps {
  section: string;
  project: string | undefined;
}

/** The navigation at the side of wide screens. */
export function Sidebar({ section, project }: SidebarProps) {
  const app = useApp();
  const { session } = app;
  return (
    <aside class="sidebar">
      <a class="brand" href="#/">
        <Logo />
        <span>kvdrive</span>
      </a>
      {project === undefined ? null : <ProjectSwitcher project={project} />}
      <nav aria-label={project === undefined ? "Server" : "Project"}>
        {project === undefined
          ? <ServerEntries section={section} />
          : navigationOf(session).map((group, index) => (
            <ul key={index} class="nav-group">
              {group.map(({ section: one, label, icon }) => (
                <Entry
                  key={one}
                  href={links.section(project, one)}
                  {...{ label, icon }}
                  isOpen={one === section}
                />
              ))}
            </ul>
          ))}
      </nav>
      <button
        type="button"
        class="account"
        aria-haspopup="menu"
        onClick={(event) => openMenu(app, event.currentTarget, accountMenu(app), "Account")}
      >
        <Icon of={UserRound} />
        <span class="account-name">
          {session.isAdministrator ? "Administrator" : session.current.value?.key}
        </span>
        <Icon of={ChevronsUpDown} size={16} />
      </button>
    </aside>
  );
}

function ServerEntries({ section }: { section: string }) {
  const { session } = useApp();
  if (!session.isAdministrator) return null;
  return (
    <ul class="nav-group">
      <Entry
        href={links.projects()}
        label="Projects"
        icon={Boxes}
        isOpen={section === "projects"}
      />
      <Entry href={links.status()} label="Health" icon={HeartPulse} isOpen={section === "status"} />
      <Entry
        href={links.serverEvents()}
        label="Activity"
        icon={Activity}
        isOpen={section === "events"}
      />
    </ul>
  );
}

function Entry({ href, label, icon, isOpen }: {
  href: string;
  label: string;
  icon: IconNode;
  isOpen: boolean;
}) {
  return (
    <li>
      <a class="nav-entry" href={href} aria-current={isOpen ? "page" : undefined}>
        <Icon of={icon} />
        {label}
      </a>
    </li>
  );
}

/** The name of the project; the administrator chooses another one with it. */
function ProjectSwitcher({ project }: { project: string }) {
  const app = useApp();
  if (!app.session.isAdministrator) return <p class="switcher">{project}</p>;
  const open = async (button: HTMLElement) => {
    const { projects } = await dataOf(app.api.GET("/admin/v1/projects"));
    const items = projects.map(({ project_id, name }) => ({
      label: name ?? project_id,
      isChecked: project_id === project,
      run: () => app.router.go(links.drives(project_id)),
    }));
    const all = { label: "All projects", icon: Boxes, run: () => app.router.go(links.projects()) };
    await openMenu(app, button, [...items, "-", all], "Projects");
  };
  return (
    <button
      type="button"
      class="switcher"
      aria-haspopup="menu"
      onClick={(event) => {
        open(event.currentTarget).catch((error) => app.toasts.error(error));
      }}
    >
      <span class="switcher-name">{project}</span>
      <Icon of={ChevronsUpDown} size={16} />
    </button>
  );
}
