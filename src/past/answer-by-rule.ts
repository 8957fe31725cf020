/**
 * Answers a question about the past from the records, without a model, in the language of the question. It names only
 * what the records contain, and says so if nothing happened or the question is not understood.
 */

import { assertNever } from '../domain/error.ts'
import { CLEAN_LABEL, type Label, lowestLabel } from '../domain/label.ts'
import type { SpendGroup } from '../domain/money.ts'
import { answerAgents, answerNext, answerTodos, answerUnknownAgent, answerWhyOfTodo, type Said } from './answer-now.ts'
import { fileIn, findAskedRuns } from './asked-runs.ts'
import { describeMatters } from './describe-matters.ts'
import { describeExplainedRun, describeFileHistory } from './describe-run.ts'
import { describeFailures, describeRunLine, describeSpend, describeWork, type PastWork } from './describe-work.ts'
import { explainRun } from './explain-run.ts'
import { findFileHistory } from './file-history.ts'
import { agentsIn } from './known-agents.ts'
import { findOpenMatters } from './open-matters.ts'
import { findPastCycles, findPastRuns, lowestOf, overlap, type RunFilter } from './past-runs.ts'
import type { PastSources } from './past-sources.ts'
import { findPastSpend } from './past-spend.ts'
import { type Period, readPeriod } from './period.ts'
import { type PastQuestion, type QuestionKind, readQuestion } from './question.ts'
import { sayPeriod, type Voice } from './say-time.ts'

interface RuleAnswer {
  readonly text: string
  /** Undefined: the question was not understood. */
  readonly kind: QuestionKind | undefined
  readonly period: Period | undefined
  /** The lowest label of what the answer quotes. */
  readonly label: Label
}

const ALL = Number.MAX_SAFE_INTEGER

const TEXTS = {
  en: {
    help:
      'I did not understand the question. You can ask, with a time such as "yesterday", "last week" or "on ' +
      '3 November": what I did, what it cost, what failed, what changed in a file, why I did something; also what ' +
      'waits for you, what is left to do, which agents there are, and when each runs next.',
    future: (said: string) => `"${said}" lies in the future; I can only tell what has happened.`,
    noRun: 'I found no run that the question could mean.',
    several: 'Several runs could be meant:',
    last: 'The last run:',
    noFiles: (period: string) => `${period}: no run wrote a file.`,
  },
  zh: {
    help:
      '我没有看懂这个问题。你可以问（加上“昨天”、“上周”、“11月3日”之类的时间）：我做了什么、花了多少钱、什么失败了、' +
      '某个文件改了什么、为什么做某件事；也可以问有什么在等你、还有什么没做完、有哪些智能体、它们下次什么时候运行。',
    future: (said: string) => `“${said}”在将来；我只能说已经发生的事。`,
    noRun: '没有找到问题所指的任务。',
    several: '可能指的是这些任务：',
    last: '最近一次：',
    noFiles: (period: string) => `${period}：没有任务写过文件。`,
  },
} as const

/** About the present and what comes; a time in the question changes nothing. */
const TIMELESS: ReadonlySet<QuestionKind> = new Set<QuestionKind>(['waits', 'next', 'agents'])

/** `onPage`: the answer is read on the page. */
export async function answerByRule(sources: PastSources, text: string, onPage = false): Promise<RuleAnswer> {
  const now = sources.now()
  const question = readQuestion(text, now, sources.clock())
  const voice: Voice = { language: question.language, clock: sources.clock(), now, onPage }
  const { kind, period: reading } = question
  const texts = TEXTS[voice.language]
  const refuse = (why: string): RuleAnswer => ({ text: why, kind, period: undefined, label: CLEAN_LABEL })
  if (kind === undefined) return refuse(texts.help)
  const period = reading.kind === 'period' ? reading.period : undefined
  const needsTime = !TIMELESS.has(kind)
  if (needsTime && reading.kind === 'unclear') return refuse(reading.why[voice.language])
  if (needsTime && reading.kind === 'future') return refuse(texts.future(reading.said))
  return { ...(await answerKind(sources, { ...question, kind, asked: period }, voice)), kind, period }
}

interface AskedQuestion extends PastQuestion {
  readonly kind: QuestionKind
  readonly asked: Period | undefined
}

async function answerKind(sources: PastSources, question: AskedQuestion, voice: Voice): Promise<Said> {
  const { kind, text, asked } = question
  const period = asked ?? todayOf(sources)
  switch (kind) {
    case 'waits': {
      const open = await findOpenMatters(sources)
      return { text: describeMatters(open, voice), label: lowestOf(open.matters) }
    }
    case 'next':
      return answerNext(sources, text, voice)
    case 'todos':
      return answerTodos(sources, question, voice)
    case 'agents':
      return answerAgents(sources, voice)
    case 'cost': {
      const spend = await findPastSpend(sources, period, groupIn(text))
      return { text: describeSpend(spend, period, voice), label: CLEAN_LABEL }
    }
    case 'did':
    case 'failed':
      return answerWork(sources, question, voice)
    case 'changed':
      return answerChanged(sources, question, voice)
    case 'why':
      return answerWhy(sources, question, voice)
    default:
      return assertNever(kind)
  }
}

async function answerWork(sources: PastSources, { kind, text, asked }: AskedQuestion, voice: Voice): Promise<Said> {
  const agent = await agentIn(sources, text)
  const unknown = agent === undefined ? await answerUnknownAgent(sources, text, voice) : undefined
  const last = kind === 'did' && asked === undefined ? await answerLastRun(sources, text, agent, voice) : undefined
  const short = unknown ?? last
  if (short) return short
  // A question about failures without a time asks about the last days, not only about today.
  const period = asked ?? (kind === 'did' ? todayOf(sources) : recentDays(sources))
  const work = await findPastWork(sources, period, { agent, ...(kind === 'failed' ? { limit: ALL } : {}) })
  const said = kind === 'did' ? describeWork(work, voice) : describeFailures(work, voice)
  return { text: said, label: lowestOf(work.runs) }
}

const todayOf = (sources: PastSources): Period => namedPeriod(sources, 'today')
const recentDays = (sources: PastSources): Period => namedPeriod(sources, 'the last 7 days')

/** A period that no question named: its words are left out of the answer. */
function namedPeriod(sources: PastSources, words: string): Period {
  const now = sources.now()
  const reading = readPeriod(words, now, sources.clock())
  return reading.kind === 'period' ? { ...reading.period, said: '' } : { from: 0, to: now + 1, said: '' }
}

const groupIn = (text: string): SpendGroup =>
  /\bmodels?\b|模型/i.test(text)
    ? 'model'
    : /\b(?:per|by|each|every) day\b|\bdaily\b|每天|按天/i.test(text)
      ? 'day'
      : 'agent'

/** What was done in a period; failures are searched among more runs than are listed. */
export async function findPastWork(
  sources: PastSources,
  period: Period,
  filter: Omit<RunFilter, 'period'> = {},
): Promise<PastWork> {
  const runs = await findPastRuns(sources, { ...filter, period })
  // Cycles and spending belong to no single agent.
  const isWhole = filter.agent === undefined && filter.text === undefined
  const noCycles = { total: 0, idle: 0, failed: [], is_cut: false }
  const cycles = isWhole ? await findPastCycles(sources, period) : noCycles
  const all = await findPastSpend(sources, period, 'agent')
  const ofAgent = all.lines.find(({ name }) => name === filter.agent)?.usd ?? 0
  return { ...runs, period, cycles, spend: isWhole ? all : { ...all, usd: filter.agent === undefined ? 0 : ofAgent } }
}

/** The agent whose name stands in the question. */
const agentIn = async (sources: PastSources, text: string): Promise<string | undefined> =>
  (await agentsIn(sources, text))[0]

const LAST_RUN = /\blast (?:run|ran|time)\b|\bwhen\b.*\blast\b|(?:上次|上一次|最后一次)/i

const DID_YOU = /^\s*(?:did|have) (?:you|u|we)\b|了吗|了没|有没有/i

/**
 * "When did you last …", "did you …": the newest run with words of the question, or of the agent. Contract: undefined
 * if that is not asked, or no run has two words of a "did you".
 */
async function answerLastRun(
  sources: PastSources,
  text: string,
  agent: string | undefined,
  voice: Voice,
): Promise<Said | undefined> {
  const asksLast = LAST_RUN.test(text)
  if (!asksLast && !DID_YOU.test(text)) return undefined
  const { runs } = await findPastRuns(sources, { agent, limit: ALL })
  const meant = runs.filter((run) => overlap(run, text) >= (asksLast ? 1 : 2))
  const [last] = meant.length > 0 || !asksLast ? meant : runs
  if (!last) return asksLast ? { text: TEXTS[voice.language].noRun, label: CLEAN_LABEL } : undefined
  return { text: `${TEXTS[voice.language].last}\n${describeRunLine(last, voice, false)}`, label: last.label }
}

async function answerChanged(sources: PastSources, { text, asked }: AskedQuestion, voice: Voice): Promise<Said> {
  const agent = await agentIn(sources, text)
  const { runs } = await findPastRuns(sources, { agent, limit: ALL })
  const path = fileIn(text, runs)
  if (path !== undefined) {
    const history = await findFileHistory(sources, path, { period: asked, agent })
    return { text: describeFileHistory(history, asked, voice), label: lowestOf(history.writes.map(({ run }) => run)) }
  }
  const period = asked ?? recentDays(sources)
  const work = await findPastRuns(sources, { period, agent, limit: ALL })
  const writers = work.runs.filter(({ files }) => files.length > 0)
  const said = sayPeriod(period, voice)
  if (writers.length === 0) return { text: TEXTS[voice.language].noFiles(said), label: CLEAN_LABEL }
  const lines = writers.toReversed().map((run) => describeRunLine(run, voice, false))
  return { text: [`${said}${voice.language === 'zh' ? '：' : ':'}`, ...lines].join('\n'), label: lowestOf(writers) }
}

const MAX_CANDIDATES = 5

async function answerWhy(sources: PastSources, { text, asked }: AskedQuestion, voice: Voice): Promise<Said> {
  const texts = TEXTS[voice.language]
  const ofTodo = await answerWhyOfTodo(sources, text, voice)
  if (ofTodo) return ofTodo
  const found = await findAskedRuns(sources, text, asked)
  const [best, second] = found
  if (!best) return { text: texts.noRun, label: CLEAN_LABEL }
  if (second) {
    const lines = found.slice(0, MAX_CANDIDATES).map((run) => describeRunLine(run, voice, false))
    return { text: [texts.several, ...lines].join('\n'), label: lowestOf(found) }
  }
  const explained = await explainRun(sources, best.run_id)
  if (!explained) return { text: texts.noRun, label: CLEAN_LABEL }
  return { text: describeExplainedRun(explained, voice), label: lowestLabel(best.label, explained.run.label) }
}
