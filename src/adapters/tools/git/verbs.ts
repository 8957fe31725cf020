/**
 * What of git an agent may use: verbs, and of each the options that are known to run nothing, to read and write nothing outside, and to go nowhere.
 * Options are taken by their whole names: git itself would take any beginning of one.
 */

import { addressOf } from '../../../domain/address.ts'

/** `look` changes nothing; `add` and `commit` can be asked after a crash; `change` is done once; the others go to the network. */
export type VerbKind = 'look' | 'add' | 'commit' | 'change' | 'ask' | 'take' | 'merge' | 'give'

export interface Verb {
  readonly kind: VerbKind
  /** Letters that may stand in `-abc`. A letter behind which `:` stands takes a value. */
  readonly short: string
  /** Names behind `--`; one that ends in `=` takes a value. */
  readonly long: readonly string[]
}

const words = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== '')
const verb = (kind: VerbKind, short: string, long: string): Verb => ({ kind, short, long: words(long) })

const DIFF = `stat numstat shortstat summary name-only name-status patch no-patch raw unified= ignore-all-space ignore-space-change ignore-blank-lines
  word-diff word-diff= find-renames no-renames diff-filter= color-words minimal histogram patience check exit-code quiet binary full-index`
const LOG = `oneline graph all branches tags decorate no-decorate max-count= skip= since= until= after= before= author= committer= grep= all-match invert-grep
  regexp-ignore-case merges no-merges first-parent follow format= pretty pretty= abbrev-commit date= reverse topo-order cherry-pick left-right
  date-order`

export const VERBS: ReadonlyMap<string, Verb> = new Map([
  ['status', verb('look', 'sbu:v', 'short branch porcelain porcelain= untracked-files= ignored show-stash long')],
  ['log', verb('look', 'n:pswbiS:G:U:zgE', `${LOG} ${DIFF}`)],
  ['diff', verb('look', 'pswbU:zM', `cached staged merge-base ${DIFF}`)],
  ['show', verb('look', 'pswbU:z', `${DIFF} oneline format= pretty= date= abbrev-commit no-notes`)],
  ['blame', verb('look', 'L:wMCesltn', 'porcelain date= since= root')],
  ['ls-files', verb('look', 'cdmostuz', 'cached deleted modified others stage unmerged exclude-standard full-name')],
  [
    'rev-parse',
    verb('look', 'q', 'verify short abbrev-ref show-toplevel is-inside-work-tree quiet symbolic-full-name'),
  ],
  ['rev-list', verb('look', 'n:', `count ${LOG}`)],
  ['describe', verb('look', '', 'tags all always long dirty abbrev= match= contains exact-match')],
  ['shortlog', verb('look', 'nse', 'numbered summary email all since= until= no-merges')],
  ['reflog', verb('look', 'n:', 'all max-count= date= oneline')],
  ['remote', verb('look', 'v', 'verbose')],
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
  ['ls-remote', verb('ask', 'ht', 'heads tags refs quiet')],
  ['fetch', verb('take', 'qvtnpf', 'quiet verbose tags no-tags prune depth= force dry-run')],
  ['clone', verb('merge', 'qb:', 'quiet branch= depth= single-branch no-tags')],
  ['pull', verb('merge', 'q', 'quiet ff ff-only no-ff rebase no-rebase no-edit tags')],
  ['push', verb('give', 'qfdn', 'quiet force force-with-lease delete tags dry-run follow-tags atomic porcelain')],
])

/** Verbs that change something only if they are given more than this. */
const LOOKING: Readonly<Record<string, RegExp>> = {
  branch: /^(-[avrl]+|--(all|list|verbose|remotes|show-current|merged|no-merged|contains=.*|sort=.*))$/,
  tag: /^(-[ln\d]+|--(list|sort=.*|contains=.*|points-at=.*))$/,
  stash: /^(list|show|--stat|-p)$/,
}

export interface Parsed {
  readonly verb: Verb
  /** With `add` and `commit`: whether it only says what it would do, or redoes what is there. */
  readonly kind: VerbKind
  /** What is neither an option nor its value, up to `--` and behind it. */
  readonly operands: readonly string[]
  /** Whether it may take away what is there. */
  readonly forces: boolean
}

export type Parsing =
  | { readonly kind: 'parsed'; readonly parsed: Parsed }
  | { readonly kind: 'refused'; readonly why: string }

const refused = (why: string): Parsing => ({ kind: 'refused', why })

/** Contract: pure; `args` as git would get them, the verb first. */
export function parsed(args: readonly string[]): Parsing {
  const [name = '', ...rest] = args
  const verb = VERBS.get(name)
  if (!verb) return refused(`git ${JSON.stringify(name)} is not offered; the verbs are ${[...VERBS.keys()].join(', ')}`)
  if (rest.some((arg) => arg.includes('\0') || arg.length > 10_000))
    return refused('an argument with a NUL, or one that is too long')
  const operands: string[] = []
  for (let at = 0; at < rest.length; at += 1) {
    const arg = rest[at] ?? ''
    if (arg === '--') {
      operands.push(...rest.slice(at + 1))
      break
    }
    if (!arg.startsWith('-') || arg === '-') operands.push(arg)
    else {
      const taken = optionOf(verb, arg)
      if (taken === undefined)
        return refused(`the option ${JSON.stringify(arg)} of git ${name} is not offered; expected ${offered(verb)}`)
      at += taken
    }
  }
  const [remote, ...others] = isNetwork(verb.kind) ? operands : [undefined, ...operands]
  const outside = others.find((one) => one !== undefined && leadsOut(one))
  if (outside !== undefined) return refused(`${JSON.stringify(outside)} leads out of the workspace`)
  if (isNetwork(verb.kind) && addressOf(remote ?? '').kind === 'refused')
    return refused(
      `name the remote by its address, http(s)://…; got ${JSON.stringify(remote ?? '')}; "remote -v" shows those that are known`,
    )
  return {
    kind: 'parsed',
    parsed: { verb, kind: kindOf(name, verb, rest), operands, forces: isForced(rest, operands) },
  }
}

/** `+main` and `:main` do without an option what `--force` and `--delete` do. */
const isForced = (args: readonly string[], [, ...refs]: readonly string[]): boolean =>
  args.some((arg) => /^--(?:force|force-with-lease|delete)(?:=|$)|^-[a-z]*[fd]/.test(arg)) ||
  refs.some((ref) => /^[+:]/.test(ref))

function kindOf(name: string, { kind }: Verb, rest: readonly string[]): VerbKind {
  const looking = LOOKING[name]
  if (looking && (name !== 'stash' || rest.length > 0) && rest.every((arg) => looking.test(arg))) return 'look'
  // What is redone has the same parent as before, so nobody could tell afterwards.
  return kind === 'commit' && rest.includes('--amend') ? 'change' : kind
}

export const isNetwork = (kind: VerbKind): boolean =>
  kind === 'ask' || kind === 'take' || kind === 'merge' || kind === 'give'

/** Contract: how many arguments behind it belong to it; undefined where it is not offered. */
function optionOf({ short, long }: Verb, arg: string): number | undefined {
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

const offered = ({ short, long }: Verb): string =>
  [...[...short.replaceAll(':', '')].map((letter) => `-${letter}`), ...long.map((name) => `--${name}`)].join(' ')

/** Two dots between revisions are not two dots between slashes. */
const leadsOut = (operand: string): boolean =>
  /^[/~\\]|(^|\/)\.\.(\/|$)|^[a-z]:[\\/]/i.test(operand.replace(/^[^:/]*:(?=[./])/, ''))
