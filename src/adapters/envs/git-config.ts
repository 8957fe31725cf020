/**
 * A git configuration, read without git. Only the plain form is understood, in which git cannot read anything else than we do: no
 * escapes, quotes, continuation lines, or comments behind a value. Everything else is `undefined`, and its file is not trusted.
 */

export interface GitSetting {
  /** Section and name in lower case, the subsection as it stands: `remote.Origin.url`. */
  readonly key: string
  readonly value: string
}

const SECTION = /^\[([a-z0-9-]+)(?: "([^"\\\]]*)")?\]$/i
const SETTING = /^([a-z][a-z0-9-]*)(?:\s*=\s*(.*))?$/i
/** Git itself puts a value into quotes where it begins or ends with a blank; then the file is not plain. */
const PLAIN_VALUE = /^[^"\\;#]*$/
const MOST_BYTES = 256 * 1024

export function readPlainConfig(text: string): readonly GitSetting[] | undefined {
  // Control characters, and what some terminals or systems read as the end of a line.
  if (text.length > MOST_BYTES || /[^\n\t\P{Cc}]|[\u2028\u2029\ufeff]/u.test(text)) return undefined
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

/** Settings that name no program and no other file. */
const HARMLESS = new RegExp(
  `^(${[
    'core\\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|quotepath|abbrev)',
    'extensions\\.(objectformat|refstorage|partialclone)',
    'remote\\..*\\.(url|pushurl|fetch|tagopt|prune|mirror|promisor|partialclonefilter)|branch\\..*\\.(remote|merge|rebase|pushremote)',
    'user\\.(name|email)|init\\.defaultbranch|pull\\.(rebase|ff)|push\\.(default|autosetupremote)|fetch\\.prune',
    'submodule\\.(.*\\.)?(url|active|branch)|color\\..*|commit\\.gpgsign|gc\\.auto',
  ].join('|')})$`,
)

/** An address that git would hand to a program of its own choice, or of the repository's (`ext::sh -c …`). */
const PROGRAM_ADDRESS = /^[a-z0-9+.-]*::|^-|^fd:/i

/**
 * Contract: whether a git that obeys this configuration runs nothing because of it, reads no other file, and works on no tree but one that
 * `isOwnTree` admits.
 */
export function isHarmlessConfig(text: string, isOwnTree: (worktree: string) => boolean): boolean {
  const isHarmless = ({ key, value }: GitSetting): boolean =>
    key === 'core.worktree' ? isOwnTree(value) : HARMLESS.test(key) && !PROGRAM_ADDRESS.test(value)
  return readPlainConfig(text)?.every(isHarmless) ?? false
}
