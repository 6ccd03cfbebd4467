import { Boxes, ChevronsUpDown, UserRound } from "lucide";
import { dataOf } from "../core/api.ts";
import { useApp } from "../core/context.ts";
import { links } from "../core/links.ts";
import { useResource } from "../core/resource.ts";
import { Icon, Logo } from "../ui/icon.tsx";
import { openMenu } from "../ui/menu.tsx";
import { accountMenu } from "./account_menu.ts";
import { projectNavigation, serverNavigation } from "./sections.tsx";

/** The navigation at the side of wide screens. */
export function Sidebar({ section, project }: { section: string; project: string | undefined }) {
  const app = useApp();
  const { session } = app;
  const groups = project === undefined
    ? [serverNavigation(session)]
    : projectNavigation(session, project);
  return (
    <aside class="sidebar">
      <a class="brand line" href="#/">
        <Logo />
        <span>kvdrive</span>
      </a>
      {project === undefined ? null : <ProjectSwitcher project={project} />}
      <nav aria-label={project === undefined ? "Server" : "Project"}>
        {groups.map((group, index) => (
          <ul key={index} class="nav-group">
            {group.map(({ section: one, label, icon, href }) => (
              <li key={one}>
                <a
                  class="nav-entry line"
                  href={href}
                  aria-current={one === section ? "page" : undefined}
                >
                  <Icon of={icon} />
                  {label}
                </a>
              </li>
            ))}
          </ul>
        ))}
      </nav>
      <button
        type="button"
        class="account line"
        aria-haspopup="menu"
        onClick={(event) => openMenu(app, event.currentTarget, accountMenu(app), "Account")}
      >
        <Icon of={UserRound} />
        <span class="account-name ellipsis">
          {session.isAdministrator ? "Administrator" : `Key ${session.current.value?.key}…`}
        </span>
        <Icon of={ChevronsUpDown} size={16} />
      </button>
    </aside>
  );
}

/** The name of the project; the administrator chooses another one with it. */
export function ProjectSwitcher({ project }: { project: string }) {
  const app = useApp();
  const { session } = app;
  const list = useResource(
    async (signal) =>
      session.isAdministrator
        ? (await dataOf(app.api.GET("/admin/v1/projects", { signal }))).projects
        : [],
    [session.isAdministrator],
  );
  const projects = list.data ?? [];
  const name = session.isAdministrator
    ? projects.find(({ project_id }) => project_id === project)?.name
    : session.current.value?.project_name;
  if (!session.isAdministrator) return <p class="switcher line">{name ?? project}</p>;
  const open = (button: HTMLElement) => {
    const items = projects.map(({ project_id, name }) => ({
      label: name ?? project_id,
      isChecked: project_id === project,
      run: () => app.router.go(links.drives(project_id)),
    }));
    const all = { label: "All projects", icon: Boxes, run: () => app.router.go(links.projects()) };
    return openMenu(app, button, [...items, "-", all], "Projects");
  };
  return (
    <button
      type="button"
      class="switcher line"
      aria-haspopup="menu"
      onClick={(event) => open(event.currentTarget)}
    >
      <span class="account-name ellipsis">{name ?? project}</span>
      <Icon of={ChevronsUpDown} size={16} />
    </button>
  );
}
