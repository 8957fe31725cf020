/**
 * Builds the shell command for git. The agent can edit the repository's configuration, so settings that run a program
 * or redirect git are overridden or refused. System and user configuration, GIT_ variables, hooks, pager and helpers
 * are off.
 */

interface GitInvocation {
  readonly args: readonly string[]
  /** Unix time in seconds; the date of new commits. */
  readonly at: number
  /** True if the env has verified the repository. Then its git folder may be outside the workspace. */
  readonly isRepository: boolean
  /** Configuration keys of the repository's filters; they are set to empty. */
  readonly filters: readonly string[]
  /** Address of the proxy for network commands; used only if the env sets no proxy. */
  readonly proxy?: string
}

type Setting = readonly [key: string, value: string]

const OVERRIDES: readonly Setting[] = [
  ...([
    ['core.hooksPath', '/dev/null'],
    ['core.fsmonitor', 'false'],
    ['core.attributesFile', '/dev/null'],
    ['core.askPass', ''],
  ] as const),
  ...([
    ['core.sshCommand', 'false'],
    ['core.alternateRefsCommand', ''],
    ['core.pager', 'cat'],
    ['credential.helper', ''],
  ] as const),
  ...([
    ['commit.gpgSign', 'false'],
    ['tag.gpgSign', 'false'],
    ['push.gpgSign', 'false'],
    ['log.showSignature', 'false'],
  ] as const),
  ...([
    ['gpg.program', 'false'],
    ['gpg.ssh.program', 'false'],
    ['gpg.x509.program', 'false'],
    ['gpg.ssh.defaultKeyCommand', ''],
  ] as const),
  ...([
    ['maintenance.auto', 'false'],
    ['gc.auto', '0'],
    ['submodule.recurse', 'false'],
    ['fetch.recurseSubmodules', 'false'],
  ] as const),
  ...([
    ['init.templateDir', ''],
    ['init.defaultBranch', 'main'],
    ['safe.bareRepository', 'explicit'],
    ['http.followRedirects', 'false'],
  ] as const),
  ...([
    ['rebase.autoStash', 'false'],
    ['merge.verifySignatures', 'false'],
    ['protocol.version', '2'],
    ['advice.detachedHead', 'false'],
  ] as const),
]

/** Configuration keys that run a program or redirect git and cannot be overridden. If one is set, git is not run. */
const RISKY: readonly RegExp[] = [
  /^(includeif|url|http|https|uploadpack)\./i,
  /^(merge\..*\.driver|diff\.external|diff\..*\.(command|textconv)|core\.(worktree|gitproxy))$/i,
  /^remote\..*\.(uploadpack|receivepack|vcs|proxy|promisor|partialclonefilter)$/i,
  /^(extensions\.partialclone|submodule\..*\.update|trailer\..*\.(command|cmd))$/i,
  /^(interactive\.difffilter|credential\..*\.helper)$/i,
]
const FILTER = /^filter\..*\.(clean|smudge|process|required)$/i

/** The risky keys and the filter keys among the repository's configuration keys. Pure. */
export function checkConfigKeys(names: readonly string[]): {
  readonly risky: readonly string[]
  readonly filters: readonly string[]
} {
  return {
    risky: names.filter((name) => RISKY.some((key) => key.test(name))),
    filters: names.filter((name) => FILTER.test(name)),
  }
}

const AUTHOR = 'Tireless'
const EMAIL = 'tireless@localhost'

/** Contract: a shell command that prints the keys of the git configuration, one per line. */
export function configKeysCommand(isRepository: boolean): string {
  return [SCRUB, ...exports({ ...BASE_ENV }), guard(isRepository, 'exit 0'), 'exec git config --list --name-only'].join(
    '\n',
  )
}

export function buildGitCommand({ args, at, isRepository, filters, proxy }: GitInvocation): string {
  const [verb = ''] = args
  const settings = [...OVERRIDES, ...filters.map((key): Setting => [key, ''])]
  const date = `@${at} +0000`
  const vars = {
    ...BASE_ENV,
    ...{
      GIT_ALLOW_PROTOCOL: proxy === undefined ? 'none' : 'http:https',
      GIT_EDITOR: 'true',
      GIT_SEQUENCE_EDITOR: 'true',
    },
    ...{ GIT_AUTHOR_NAME: AUTHOR, GIT_AUTHOR_EMAIL: EMAIL, GIT_AUTHOR_DATE: date },
    ...{ GIT_COMMITTER_NAME: AUTHOR, GIT_COMMITTER_EMAIL: EMAIL, GIT_COMMITTER_DATE: date },
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], n) => [
        [`GIT_CONFIG_KEY_${n}`, key],
        [`GIT_CONFIG_VALUE_${n}`, value],
      ]),
    ),
  }
  const noDiffPrograms = DIFF_VERBS.includes(verb) ? ['--no-ext-diff', '--no-textconv'] : []
  const worksOutside = verb === 'init' || verb === 'clone' || verb === 'ls-remote'
  return [
    SCRUB,
    ...exports(vars),
    ...(proxy === undefined ? [] : proxyExports(proxy)),
    ...(worksOutside ? [] : [guard(isRepository, `echo 'not a git repository; create one with: init' >&2; exit 128`)]),
    `exec git --no-pager ${[verb, ...noDiffPrograms, ...args.slice(1)].map(quoteShellArgument).join(' ')}`,
  ].join('\n')
}

/** Verbs that would run diff programs named in the configuration. */
const DIFF_VERBS: readonly string[] = ['log', 'diff', 'show']

const BASE_ENV = {
  ...{ GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_ATTR_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0' },
  ...{ GIT_PAGER: 'cat', GIT_NO_LAZY_FETCH: '1', GIT_ASKPASS: 'false', GIT_CEILING_DIRECTORIES: '/', LC_ALL: 'C' },
}

/** Shell code that removes all inherited GIT_ variables. */
const SCRUB = `for name in $(env | sed -n 's/^\\(GIT_[A-Za-z0-9_]*\\)=.*/\\1/p'); do unset "$name"; done`

/**
 * Shell code that makes git use `.git` in the current folder, or else runs `otherwise`. A repository in a parent folder
 * does not count; a `.git` that points to another folder counts only if the env has verified the repository.
 */
function guard(isRepository: boolean, otherwise: string): string {
  const test = isRepository ? '[ -e .git ]' : '[ -d .git ] && [ ! -L .git ] && [ ! -e .git/commondir ]'
  return `if ${test}; then export GIT_DIR="$PWD/.git" GIT_WORK_TREE="$PWD"; else ${otherwise}; fi`
}

/** Shell code that sets the proxy, unless the env has already set one. */
const proxyExports = (proxy: string): readonly string[] => [
  `if [ -z "\${https_proxy:-}" ]; then`,
  `export https_proxy=${quoteShellArgument(proxy)} http_proxy=${quoteShellArgument(proxy)} no_proxy= NO_PROXY=`,
  'fi',
]

const exports = (vars: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(vars).map(([name, value]) => `export ${name}=${quoteShellArgument(value)}`)

const quoteShellArgument = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
