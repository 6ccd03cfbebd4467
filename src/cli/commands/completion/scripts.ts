import type { Arguments } from "../../options/command.ts";
import { print, UsageError } from "../../terminal/output.ts";

/**
 * What the scripts have in common: they ask `kvdrive complete` for the word at the cursor. Each line of its answer is a
 * completion, with a tab and its meaning if it has one; `:files` stands for the files of this machine. No space follows a
 * completion that ends with a colon or a slash.
 */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `# Load with: source <(kvdrive completion bash)
_kvdrive() {
  local word="" drop="" name="" meaning="" files="" words=()
  # Not COMP_WORDS: a colon ends a word of bash. The mark keeps a last word that is empty.
  read -a words <<<"\${COMP_LINE:0:COMP_POINT}|"
  word="\${words[\${#words[@]} - 1]%|}"
  words[\${#words[@]} - 1]="$word"
  # Bash replaces only the text after the last colon.
  case "$COMP_WORDBREAKS" in *:*) case "$word" in *:*) drop="\${word%:*}:" ;; esac ;; esac
  COMPREPLY=()
  while IFS=$'\\t' read -r name meaning; do
    if [ "$name" = :files ]; then files=1; continue; fi
    printf -v name %q "\${name#"$drop"}"
    COMPREPLY+=("$name")
  done < <(kvdrive complete -- "\${words[@]:1}" 2>/dev/null)
  case "\${COMPREPLY[0]}" in *:|*/) compopt -o nospace 2>/dev/null ;; esac
  if [ -z "$files" ]; then compopt +o default +o bashdefault 2>/dev/null
  elif [ \${#COMPREPLY[@]} -gt 0 ]; then COMPREPLY+=($(compgen -f -- "$word"))
  fi
}
complete -o bashdefault -o default -F _kvdrive kvdrive
`,
  zsh: `#compdef kvdrive
# Load with: source <(kvdrive completion zsh)
_kvdrive() {
  local line="" files=""
  local -a whole open
  for line in "\${(@f)$(kvdrive complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    line="\${line%%$'\\t'*}"
    case "$line" in
      "") ;;
      :files) files=1 ;;
      *[:/]) open+=("$line") ;;
      *) whole+=("$line") ;;
    esac
  done
  if (( $#whole )); then compadd -- $whole; fi
  if (( $#open )); then compadd -S '' -- $open; fi
  if [ -n "$files" ]; then _files; fi
}
if [ "\${funcstack[1]}" = _kvdrive ]; then _kvdrive "$@"; else compdef _kvdrive kvdrive; fi
`,
  fish: `# Load with: kvdrive completion fish | source
function __kvdrive_complete
  set -l words (commandline -opc)[2..-1]
  set -l word (commandline -ct)
  type -q kvdrive; or return
  for line in (kvdrive complete -- $words "$word" 2>/dev/null)
    if test "$line" = :files
      __fish_complete_path "$word"
    else
      printf '%s\\n' $line
    end
  end
end
complete -c kvdrive -e
complete -c kvdrive -f -a '(__kvdrive_complete)'
`,
  powershell: `# Load with: kvdrive completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName kvdrive -ScriptBlock {
  param($word, $line, $at)
  $before = @($line.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.EndOffset -lt $at } |
    ForEach-Object { if ($null -ne $_.Value) { "$($_.Value)" } else { $_.Extent.Text } })
  $last = $word
  # Earlier versions leave empty arguments out.
  if ($last -eq '' -and $PSVersionTable.PSVersion -lt [version]'7.3') { $last = '""' }
  kvdrive complete -- @before $last 2>$null | ForEach-Object {
    $name, $meaning = $_ -split "\`t", 2
    if ($name -eq ':files') {
      [System.Management.Automation.CompletionCompleters]::CompleteFilename($word)
    } elseif ($name) {
      $text = $name
      if ($name -notmatch '^[\\w./:+-]+$') { $text = "'" + $name.Replace("'", "''") + "'" }
      if (-not $meaning) { $meaning = $name }
      [System.Management.Automation.CompletionResult]::new($text, $name, 'ParameterValue', $meaning)
    }
  }
}
`,
};

export const SHELLS: readonly string[] = Object.keys(SCRIPTS);

/** `kvdrive completion SHELL`. */
export function printScript(args: Arguments): void {
  const script = SCRIPTS[args.operands[0] ?? ""];
  if (script === undefined) throw new UsageError(`Unknown shell: usage: ${args.usage}`);
  print(script);
}
