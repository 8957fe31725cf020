/**
 * Parses a git configuration without running git. It accepts only plain text that cannot be misread: no escapes,
 * quotes, continuation lines, or comments after a value. For any other text the result is `undefined`, and the file
 * is not trusted.
 */

interface GitSetting {
  /** Section and name in lower case; the subsection keeps its case: `remote.Origin.url`. */
  readonly key: string
  readonly value: string
}

const SECTION = /^\[([a-z0-9-]+)(?: "([^"\\\]]*)")?\]$/i
const SETTING = /^([a-z][a-z0-9-]*)(?:\s*=\s*(.*))?$/i
/** A value without quotes, escapes and comments. Git writes quotes around a value that begins or ends with a blank. */
const PLAIN_VALUE = /^[^"\\;#]*$/
const MAX_BYTES = 256 * 1024

export function readPlainConfig(text: string): readonly GitSetting[] | undefined {
  // Refuses control characters, and characters that some programs read as a line end.
  if (text.length > MAX_BYTES || /[^\n\t\P{Cc}]|[\u2028\u2029\ufeff]/u.test(text)) return undefined
  const settings: GitSetting[] = []
  let section = ''
  for (const line of text.split('\n').map((raw) => raw.trim())) {
    if (line === '' || /^[#;]/.test(line)) continue
    const [, name, subsection] = SECTION.exec(line) ?? []
    if (name !== undefined) {
      section = subsection === undefined ? name.toLowerCase() : `${name.toLowerCase()}.${subsection}`
      continue
    }
    const [, key, value = ''] = SETTING.exec(line) ?? []
    if (key === undefined || section === '' || !PLAIN_VALUE.test(value)) return undefined
    settings.push({ key: `${section}.${key.toLowerCase()}`, value: value.trim() })
  }
  return settings
}

/** Settings that name neither a program nor another file. */
const HARMLESS_KEYS = new RegExp(
  `^(${[
    'core\\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks)',
    'core\\.(autocrlf|eol|safecrlf|quotepath|abbrev)',
    'extensions\\.(objectformat|refstorage|partialclone)',
    'remote\\..*\\.(url|pushurl|fetch|tagopt|prune|mirror|promisor|partialclonefilter)',
    'branch\\..*\\.(remote|merge|rebase|pushremote)',
    'user\\.(name|email)|init\\.defaultbranch|pull\\.(rebase|ff)|push\\.(default|autosetupremote)|fetch\\.prune',
    'submodule\\.(.*\\.)?(url|active|branch)|color\\..*|commit\\.gpgsign|gc\\.auto',
  ].join('|')})$`,
)

/** A remote URL that makes git run a program, for example `ext::sh -c …`. */
const PROGRAM_URL = /^[a-z0-9+.-]*::|^-|^fd:/i

/**
 * Contract: true if this configuration makes git run no program and read no other file, and `isOwnTree` accepts every
 * work tree that it names.
 */
export function isHarmlessConfig(text: string, isOwnTree: (worktree: string) => boolean): boolean {
  const isHarmless = ({ key, value }: GitSetting): boolean =>
    key === 'core.worktree' ? isOwnTree(value) : HARMLESS_KEYS.test(key) && !PROGRAM_URL.test(value)
  return readPlainConfig(text)?.every(isHarmless) ?? false
}
