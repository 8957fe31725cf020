/** Divides a task into steps: one for each clause, by the rule that matches the clause. Pure. */

import type { ToolSpec } from '../../../ports/model.ts'
import { type Clause, MARK, type ParsedTask, parseTask } from './clauses.ts'
import type { OfflineStep } from './offline-step.ts'
import { matchOwnTool } from './own-tools.ts'
import { REST_RULES, SENTENCE_RULES, type SentenceMatch } from './sentence-rules.ts'

const POLITE_PREFIX = new RegExp(
  String.raw`^(?:(?:please|now|first|next|also|and|then|finally|(?:could|can|would)\s+you` +
    String.raw`|i\s+want\s+you\s+to|let['’]s)\b|请你?|帮我|麻烦你?|首先|先|然后|接着|最后|再|并)[\s,，]*`,
  'i',
)

/** Collapses white space: the patterns expect single blanks, and long runs would make them backtrack endlessly. */
function stripPoliteWords(words: string): string {
  let rest = words.replace(/\s+/g, ' ')
  for (let before = ''; before !== rest; rest = rest.replace(POLITE_PREFIX, '')) before = rest
  return rest
}

function takesRest(words: string): boolean {
  const sentence = stripPoliteWords(words)
  return REST_RULES.some(({ patterns }) => patterns.some((pattern) => pattern.test(sentence)))
}

const DATA_LINE = new RegExp(`^(?:([^\\uE000]{0,200})[:：])?\\s*(${MARK})$`)

/** `ownTools`: the user's own tools, which sentences without a rule may name. */
export function parseSteps(text: string, ownTools: readonly ToolSpec[] = []): OfflineStep[] {
  const task = parseTask(text, takesRest)
  const steps: OfflineStep[] = []
  let lastPath: string | undefined
  for (const clause of task.clauses) {
    const isOrphan = clause.belongsToPrevious && steps.at(-1)?.kind === 'unknown'
    const knownStep = isOrphan ? undefined : preferOwnTool(matchClause(clause, task, lastPath), clause, task, ownTools)
    if (!knownStep && isHeading(clause, task)) continue
    const step = knownStep ?? unknownStep(clause, task)
    if ('path' in step && step.kind !== 'list') lastPath = step.path
    steps.push(step)
  }
  return steps
}

/** A rule goes first, unless it would run the tool's name as a command. */
function preferOwnTool(
  step: OfflineStep | undefined,
  clause: Clause,
  task: ParsedTask,
  ownTools: readonly ToolSpec[],
): OfflineStep | undefined {
  const [command] = step?.kind === 'run' ? step.command.split(/\s/) : []
  if (step && !ownTools.some(({ name }) => name === command)) return step
  return matchOwnTool(clause, task, ownTools) ?? step
}

/** A heading such as `State:` above a data block, or the block alone, is no instruction. */
function isHeading({ words, rest }: Clause, task: ParsedTask): boolean {
  const [, above = '', mark = ''] = DATA_LINE.exec(words) ?? []
  return rest === undefined && task.literal(mark)?.fence === 'data' && !takesRest(above)
}

function unknownStep({ words, rest }: Clause, task: ParsedTask): OfflineStep {
  return { kind: 'unknown', words: task.plain(rest === undefined ? words : `${words}: ${rest}`) }
}

function matchClause(clause: Clause, task: ParsedTask, lastPath: string | undefined): OfflineStep | undefined {
  if (clause.isBeyondRules) return undefined
  const words = stripPoliteWords(clause.words)
  const soleLiteral = task.literal(words)
  if (soleLiteral) return soleLiteral.fence === 'shell' ? { kind: 'run', command: soleLiteral.text.trim() } : undefined
  for (const { patterns, step } of clause.rest === undefined ? SENTENCE_RULES : REST_RULES) {
    for (const pattern of patterns) {
      const match = pattern.exec(words)
      const matched = match && step(readGroups(match.groups ?? {}, clause, task, lastPath))
      if (matched) return matched
    }
  }
  return undefined
}

type Groups = Readonly<Record<string, string | undefined>>

function readGroups(groups: Groups, clause: Clause, task: ParsedTask, lastPath: string | undefined): SentenceMatch {
  const { verb = '', path = '', named, until } = groups
  const text = clause.rest ?? groups.text ?? groups.quoted
  const literal = text === undefined ? undefined : task.literal(text)
  const pathLiteral = task.literal(path)
  const pronoun = /^(it|它|该文件|这个文件)$/i.test(path) ? lastPath : undefined
  return {
    verb,
    path: pronoun ?? (pathLiteral?.fence === 'data' ? '' : (pathLiteral?.text ?? path)),
    named: named !== undefined || pronoun !== undefined || pathLiteral !== undefined,
    text: text === undefined ? undefined : (literal?.text ?? task.plain(text)),
    until,
    data: literal?.fence === 'data',
    task,
  }
}
