import { HardDrive, type IconNode, SquareTerminal, Webhook } from "lucide";
import { useApp } from "../core/context.ts";
import { links } from "../core/links.ts";
import { Icon } from "../ui/icon.tsx";

/** The ways to use a drive without the dashboard, as links to the page that explains them. */
export function ConnectWays({ project }: { project: string }) {
  const { session } = useApp();
  const ways: readonly (readonly [icon: IconNode, label: string, text: string] | false)[] = [
    session.current.value?.webdav === true &&
    [HardDrive, "Network folder", "In the file manager of this computer or phone"],
    [SquareTerminal, "Command line", "kvdrive put, get and sync"],
    [Webhook, "Programs", "S3, JavaScript, Python, Go and curl"],
  ];
  return (
    <ul class="connect-ways" aria-label="Other ways to connect">
      {ways.filter((way) => way !== false).map(([icon, label, text]) => (
        <li key={label}>
          <a class="card" href={links.section(project, "connect")}>
            <Icon of={icon} />
            <strong>{label}</strong>
            <span class="soft">{text}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}
