/**
 * The git verbs and options that an agent may use: none of them runs a program, touches files outside the workspace or
 * reaches a host that the call does not name. Options must be spelled in full, although git accepts abbreviations.
 */

import { parseHttpAddress } from '../../../domain/address.ts'

/**
 * A verb of the kind `read` changes nothing; `add` and `commit` can be verified after a crash; `change` is not repeated
 * after a crash; the other kinds use the network.
 */
export type GitVerbKind = 'read' | 'add' | 'commit' | 'change' | 'query' | 'fetch' | 'pull' | 'push'

interface GitVerb {
  readonly kind: GitVerbKind
  /** Allowed one-letter options; a `:` after a letter means that the option takes a value. */
  readonly short: string
  /** Allowed names of `--` options; an option whose name ends in `=` takes a value. */
  readonly long: readonly string[]
}

const words = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== '')
const verb = (kind: GitVerbKind, short: string, long: string): GitVerb => ({ kind, short, long: words(long) })

const DIFF = `stat numstat shortstat summary name-only name-status patch no-patch raw unified= ignore-all-space
  ignore-space-change ignore-blank-lines word-diff word-diff= find-renames no-renames diff-filter= color-words minimal
  histogram patience check exit-code quiet binary full-index`
const LOG = `oneline graph all branches tags decorate no-decorate max-count= skip= since= until= after= before= author=
  committer= grep= all-match invert-grep regexp-ignore-case merges no-merges first-parent follow format= pretty pretty=
  abbrev-commit date= reverse topo-order cherry-pick left-right date-order`

const GIT_VERBS: ReadonlyMap<string, GitVerb> = new Map([
  ['status', verb('read', 'sbu:v', 'short branch porcelain porcelain= untracked-files= ignored show-stash long')],
  ['log', verb('read', 'n:pswbiS:G:U:zgE', `${LOG} ${DIFF}`)],
  ['diff', verb('read', 'pswbU:zM', `cached staged merge-base ${DIFF}`)],
  ['show', verb('read', 'pswbU:z', `${DIFF} oneline format= pretty= date= abbrev-commit no-notes`)],
  ['blame', verb('read', 'L:wMCesltn', 'porcelain date= since= root')],
  ['ls-files', verb('read', 'cdmostuz', 'cached deleted modified others stage unmerged exclude-standard full-name')],
  [
    'rev-parse',
    verb('read', 'q', 'verify short abbrev-ref show-toplevel is-inside-work-tree quiet symbolic-full-name'),
  ],
  ['rev-list', verb('read', 'n:', `count ${LOG}`)],
  ['describe', verb('read', '', 'tags all always long dirty abbrev= match= contains exact-match')],
  ['shortlog', verb('read', 'nse', 'numbered summary email all since= until= no-merges')],
  ['reflog', verb('read', 'n:', 'all max-count= date= oneline')],
  ['remote', verb('read', 'v', 'verbose')],
  ['add', verb('add', 'Auvnf', 'all update no-all verbose dry-run force intent-to-add ignore-removal')],
  [
    'commit',
    verb('commit', 'am:qvs', 'all message= quiet verbose allow-empty no-verify signoff amend no-edit author='),
  ],
  ['init', verb('change', 'qb:', 'quiet initial-branch=')],
  [
    'branch',
    verb(
      'change',
      'avrdDmMcqfl',
      'all list verbose remotes delete move copy force show-current merged no-merged contains= sort=',
    ),
  ],
  ['tag', verb('change', 'lam:dfn', 'list annotate message= delete force sort= contains= points-at=')],
  ['checkout', verb('change', 'b:B:fq', 'force quiet detach ours theirs orphan= no-track')],
  ['switch', verb('change', 'c:C:fqd', 'create= force-create= detach discard-changes quiet orphan= no-track')],
  ['restore', verb('change', 's:SWq', 'source= staged worktree ours theirs quiet')],
  ['reset', verb('change', 'q', 'soft mixed hard merge keep quiet')],
  ['rm', verb('change', 'rfq', 'cached force quiet ignore-unmatch dry-run')],
  ['mv', verb('change', 'fkvn', 'force verbose dry-run')],
  ['clean', verb('change', 'fdxXnq', 'force dry-run quiet')],
  ['stash', verb('change', 'm:uaqkp', 'message= include-untracked all quiet keep-index no-keep-index index')],
  [
    'merge',
    verb(
      'change',
      'm:q',
      'ff no-ff ff-only squash no-commit message= abort continue no-edit quiet allow-unrelated-histories',
    ),
  ],
  ['rebase', verb('change', 'q', 'onto= abort continue skip quiet autostash no-autostash')],
  ['cherry-pick', verb('change', 'xnm:', 'no-commit abort continue skip mainline= allow-empty')],
  ['revert', verb('change', 'nm:', 'no-commit no-edit abort continue skip mainline=')],
  ['ls-remote', verb('query', 'ht', 'heads tags refs quiet')],
  ['fetch', verb('fetch', 'qvtnpf', 'quiet verbose tags no-tags prune depth= force dry-run')],
  ['clone', verb('pull', 'qb:', 'quiet branch= depth= single-branch no-tags')],
  ['pull', verb('pull', 'q', 'quiet ff ff-only no-ff rebase no-rebase no-edit tags')],
  ['push', verb('push', 'qfdn', 'quiet force force-with-lease delete tags dry-run follow-tags atomic porcelain')],
])

/** Verbs that change nothing if all their arguments match the expression. */
const READ_ONLY: Readonly<Record<string, RegExp>> = {
  branch: /^(-[avrl]+|--(all|list|verbose|remotes|show-current|merged|no-merged|contains=.*|sort=.*))$/,
  tag: /^(-[ln\d]+|--(list|sort=.*|contains=.*|points-at=.*))$/,
  stash: /^(list|show|--stat|-p)$/,
}

export interface GitCall {
  readonly verb: GitVerb
  /** The verb's kind; but `read` if the arguments make it read-only, and `change` for an amended commit. */
  readonly kind: GitVerbKind
  /** Arguments that are neither options nor their values. */
  readonly operands: readonly string[]
  /** True if the call may delete or overwrite commits on the remote. */
  readonly forces: boolean
}

type GitParseResult =
  | { readonly kind: 'parsed'; readonly parsed: GitCall }
  | { readonly kind: 'refused'; readonly why: string }

const refused = (why: string): GitParseResult => ({ kind: 'refused', why })

/** Pure. `args`: the arguments of git, the verb first. */
export function parseGitArgs(args: readonly string[]): GitParseResult {
  const [name = '', ...rest] = args
  const verb = GIT_VERBS.get(name)
  if (!verb)
    return refused(`git ${JSON.stringify(name)} is not available; the verbs are ${[...GIT_VERBS.keys()].join(', ')}`)
  if (rest.some((arg) => arg.includes('\0') || arg.length > 10_000))
    return refused('an argument contains a NUL character or is too long')
  const operands: string[] = []
  for (let at = 0; at < rest.length; at += 1) {
    const arg = rest[at] ?? ''
    if (arg === '--') {
      operands.push(...rest.slice(at + 1))
      break
    }
    if (!arg.startsWith('-') || arg === '-') operands.push(arg)
    else {
      const taken = valuesTaken(verb, arg)
      if (taken === undefined)
        return refused(
          `the option ${JSON.stringify(arg)} of git ${name} is not available; expected ${listOptions(verb)}`,
        )
      at += taken
    }
  }
  const [remote, ...others] = usesNetwork(verb.kind) ? operands : [undefined, ...operands]
  const outside = others.find((one) => one !== undefined && isOutside(one))
  if (outside !== undefined) return refused(`${JSON.stringify(outside)} is outside the workspace`)
  if (usesNetwork(verb.kind) && parseHttpAddress(remote ?? '').kind === 'refused')
    return refused(
      `give the remote as http(s)://…; got ${JSON.stringify(remote ?? '')}; "remote -v" lists the known remotes`,
    )
  return {
    kind: 'parsed',
    parsed: { verb, kind: kindOf(name, verb, rest), operands, forces: isForced(rest, operands) },
  }
}

/** True for options that force or delete, and for refs such as `+main` and `:main`, which mean the same. */
const isForced = (args: readonly string[], [, ...refs]: readonly string[]): boolean =>
  args.some((arg) => /^--(?:force|force-with-lease|delete)(?:=|$)|^-[a-z]*[fd]/.test(arg)) ||
  refs.some((ref) => /^[+:]/.test(ref))

function kindOf(name: string, { kind }: GitVerb, rest: readonly string[]): GitVerbKind {
  const readOnly = READ_ONLY[name]
  if (readOnly && (name !== 'stash' || rest.length > 0) && rest.every((arg) => readOnly.test(arg))) return 'read'
  // An amended commit keeps its parent, so the check after a crash could not recognise the commit.
  return kind === 'commit' && rest.includes('--amend') ? 'change' : kind
}

export const usesNetwork = (kind: GitVerbKind): boolean =>
  kind === 'query' || kind === 'fetch' || kind === 'pull' || kind === 'push'

/** Contract: how many of the next arguments are the option's value; undefined if the option is not available. */
function valuesTaken({ short, long }: GitVerb, arg: string): number | undefined {
  if (arg.startsWith('--')) {
    const [, name = '', value] = /^--([a-z-]+)(=.*)?$/s.exec(arg) ?? []
    if (value !== undefined) return long.includes(`${name}=`) ? 0 : undefined
    if (long.includes(name)) return 0
    return long.includes(`${name}=`) ? 1 : undefined
  }
  if (/^-\d+$/.test(arg)) return short.includes('n:') ? 0 : undefined
  for (let at = 1; at < arg.length; at += 1) {
    const letter = arg[at] ?? ''
    const place = short.indexOf(letter)
    if (!/[a-z]/i.test(letter) || place < 0) return undefined
    if (short[place + 1] === ':') return at === arg.length - 1 ? 1 : 0
  }
  return 0
}

const listOptions = ({ short, long }: GitVerb): string =>
  [...[...short.replaceAll(':', '')].map((letter) => `-${letter}`), ...long.map((name) => `--${name}`)].join(' ')

/** True if the operand is a path outside the workspace. `a..b` is not: it is a range of revisions. */
const isOutside = (operand: string): boolean =>
  /^[/~\\]|(^|\/)\.\.(\/|$)|^[a-z]:[\\/]/i.test(operand.replace(/^[^:/]*:(?=[./])/, ''))
