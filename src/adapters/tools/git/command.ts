/**
 * git as a command line of the env's: no configuration but the repository's, and of that nothing that names a program or another place; no variables
 * of whoever started us; no hooks, pager, editor, helpers. What the repository's configuration says is in the agent's reach.
 */

export interface Invocation {
  readonly args: readonly string[]
  /** Seconds since 1970: when its commits are made. */
  readonly at: number
  /** The env has made sure that this is a repository, also where its folder is elsewhere. */
  readonly isRepository: boolean
  /** The names of the repository's filters, as `NAMES` tells them. */
  readonly filters: readonly string[]
  /** Where it may go through, where it may go at all and the env has no way of its own. */
  readonly proxy?: string
}

type Setting = readonly [key: string, value: string]

const QUIET: readonly Setting[] = [
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

/** Keys that make git run something or go elsewhere and that cannot be set aside: with them, nothing is run. */
const RISKY =
  /^(includeif\.|url\.|http\.|https\.|merge\..*\.driver$|diff\.(external$|.*\.(command|textconv)$)|core\.(worktree|gitproxy)$|remote\..*\.(uploadpack|receivepack|vcs|proxy|promisor|partialclonefilter)$|extensions\.partialclone$|submodule\..*\.update$|trailer\..*\.(command|cmd)$|interactive\.difffilter$|uploadpack\.|credential\..*\.helper$)/i
const FILTER = /^filter\..*\.(clean|smudge|process|required)$/i

/** Contract: pure; what the names of the repository's configuration mean for whoever runs git there. */
export function judged(names: readonly string[]): {
  readonly risky: readonly string[]
  readonly filters: readonly string[]
} {
  return { risky: names.filter((name) => RISKY.test(name)), filters: names.filter((name) => FILTER.test(name)) }
}

const AUTHOR = 'Tireless'
const EMAIL = 'tireless@localhost'

/** What git says of the names of the configuration, one a line. */
export function namesCommand(isRepository: boolean): string {
  return [SCRUB, ...exports({ ...CLEAN }), guard(isRepository, 'exit 0'), 'exec git config --list --name-only'].join(
    '\n',
  )
}

export function commandOf({ args, at, isRepository, filters, proxy }: Invocation): string {
  const [verb = ''] = args
  const settings = [...QUIET, ...filters.map((key): Setting => [key, ''])]
  const date = `@${at} +0000`
  const vars = {
    ...CLEAN,
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
  const needsNone = verb === 'init' || verb === 'clone' || verb === 'ls-remote'
  return [
    SCRUB,
    ...exports(vars),
    ...(proxy === undefined ? [] : proxied(proxy)),
    ...(needsNone ? [] : [guard(isRepository, `echo 'this is no git repository; make one with: init' >&2; exit 128`)]),
    `exec git --no-pager ${[verb, ...(PLAIN.includes(verb) ? ['--no-ext-diff', '--no-textconv'] : []), ...args.slice(1)].map(quoted).join(' ')}`,
  ].join('\n')
}

/** These would ask a program of the configuration for help. */
const PLAIN: readonly string[] = ['log', 'diff', 'show']

const CLEAN = {
  ...{ GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_ATTR_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0' },
  ...{ GIT_PAGER: 'cat', GIT_NO_LAZY_FETCH: '1', GIT_ASKPASS: 'false', GIT_CEILING_DIRECTORIES: '/', LC_ALL: 'C' },
}

const SCRUB = `for name in $(env | sed -n 's/^\\(GIT_[A-Za-z0-9_]*\\)=.*/\\1/p'); do unset "$name"; done`

/** Never a repository above, nor one that something in the work tree points to. */
function guard(isRepository: boolean, otherwise: string): string {
  const test = isRepository ? '[ -e .git ]' : '[ -d .git ] && [ ! -L .git ] && [ ! -e .git/commondir ]'
  return `if ${test}; then export GIT_DIR="$PWD/.git" GIT_WORK_TREE="$PWD"; else ${otherwise}; fi`
}

/** The env's own way out comes first: where it has one, there is no other. */
const proxied = (proxy: string): readonly string[] => [
  `if [ -z "\${https_proxy:-}" ]; then export https_proxy=${quoted(proxy)} http_proxy=${quoted(proxy)} no_proxy= NO_PROXY=; fi`,
]

const exports = (vars: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(vars).map(([name, value]) => `export ${name}=${quoted(value)}`)

export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
