/** Answers by rule about the present and what comes: todos, agents, and when they run next. */

import { CLEAN_LABEL, type Label } from '../domain/label.ts'
import { type AgentsNow, describeAgents, describeNextRuns, describeUnknownAgent } from './describe-agents.ts'
import { describeUpcoming } from './describe-matters.ts'
import { describeTodos } from './describe-todos.ts'
import { agentsIn, subjectOf } from './known-agents.ts'
import { findOpenMatters } from './open-matters.ts'
import { lowestOf } from './past-runs.ts'
import type { PastSources } from './past-sources.ts'
import { findPastTodos, type TodoChoice } from './past-todos.ts'
import type { Period } from './period.ts'
import type { PastQuestion } from './question.ts'
import type { Voice } from './say-time.ts'

/** The lowest label of what the text quotes. */
export interface Said {
  readonly text: string
  readonly label: Label
}

export async function readAgentsNow({ agents, store, upcoming }: PastSources): Promise<AgentsNow> {
  const running = await store.dispatches({ status: 'running', limit: 1000 })
  return {
    ...{ agents: agents(), upcoming: await upcoming() },
    running: new Set(running.map(({ agent_id }) => agent_id)),
  }
}

export const answerAgents = async (sources: PastSources, voice: Voice): Promise<Said> => ({
  ...{ text: describeAgents(await readAgentsNow(sources), voice), label: CLEAN_LABEL },
})

/** Of the agents that the question names; without a name, of all. */
export async function answerNext(sources: PastSources, text: string, voice: Voice): Promise<Said> {
  const named = await agentsIn(sources, text)
  if (named.length > 0)
    return { text: describeNextRuns(await readAgentsNow(sources), named, voice), label: CLEAN_LABEL }
  const unknown = await answerUnknownAgent(sources, text, voice)
  if (unknown) return unknown
  const open = await findOpenMatters(sources)
  return { text: describeUpcoming(open, voice), label: lowestOf(open.matters) }
}

/** Contract: undefined if the question does not name an agent. No agent has the name. */
export async function answerUnknownAgent(sources: PastSources, text: string, voice: Voice): Promise<Said | undefined> {
  const name = subjectOf(text)
  if (name === undefined) return undefined
  return { text: describeUnknownAgent(await readAgentsNow(sources), name, voice), label: CLEAN_LABEL }
}

const CHOICES: readonly (readonly [choice: TodoChoice, pattern: RegExp])[] = [
  ['failed', /fail|wrong|broke|失败|出错|没通过|不通过/i],
  [
    'open',
    /open|left|everything|all|都|全|remain|unfinished|still|outstanding|not (?:yet )?(?:done|finished)|没|未|还剩|剩下|还有/i,
  ],
  ['proved', /prove|proof|verif|checked|证明|证实|验证|核实|核验|检验/i],
  ['done', /\b(?:done|finished|completed?)\b|完成|做完/i],
  ['all', /\b(?:all|every|list|show)\b|所有|全部|列出/i],
]

/** "what is open in the shop", "shop 里还有什么没做完": the name that has to be a plan's. */
const KIND_OF_PLACE = '(?:project|folder|workspace|session|plan)'
const PLACE = new RegExp(
  `\\b(?:in|of|for) (?:the |my |our )?(?:${KIND_OF_PLACE} )?([\\p{L}\\w./-]+)(?: ${KIND_OF_PLACE})?\\s*[?.!]*$`,
  'iu',
)
const CHINESE_PLACE = /([\w./-]+)\s*(?:这个)?(?:项目|文件夹|目录|计划|会话)?(?:里面?|中|上)?\s*(?:还|有|的)/u
const NO_PLACE: ReadonlySet<string> = new Set(['all', 'total', 'me', 'us', 'you', 'todo', 'todos', 'it', 'general'])

export async function answerTodos(
  sources: PastSources,
  { text, asked }: PastQuestion & { readonly asked: Period | undefined },
  voice: Voice,
): Promise<Said> {
  const choice = CHOICES.find(([, pattern]) => pattern.test(text))?.[0] ?? 'open'
  const untimed = asked === undefined ? text : text.replace(asked.said, '').trim()
  const place = (PLACE.exec(untimed) ?? CHINESE_PLACE.exec(untimed))?.[1]
  const isPlace = place !== undefined && !NO_PLACE.has(place.toLowerCase())
  const found = await findPastTodos(sources, {
    ...{ choice, words: untimed, period: asked, place: isPlace ? place : undefined },
  })
  const label = lowestOf(found.plans)
  const more = found.unknown_place === null ? await besides(sources, choice, voice) : []
  return { text: [describeTodos(found, asked, voice), ...more].join('\n'), label }
}

const BESIDES = {
  en: {
    waits: (count: number) =>
      `Besides, ${count} ${count === 1 ? 'matter waits' : 'matters wait'} for you (ask: what waits for me?).`,
    queue: (pending: number, running: number) => `In the queue: ${pending} pending, ${running} running.`,
  },
  zh: {
    waits: (count: number) => `另有 ${count} 件事在等你（问：有什么在等我）。`,
    queue: (pending: number, running: number) => `队列里有 ${pending} 个待运行、${running} 个运行中的任务。`,
  },
} as const

/** What is left to do is not only in todos: work may wait in the queue, or for the owner. */
async function besides(sources: PastSources, choice: TodoChoice, { language }: Voice): Promise<readonly string[]> {
  if (choice !== 'open') return []
  const { matters, pending, running } = await findOpenMatters(sources)
  const forOwner = matters.filter(({ kind }) => kind !== 'parked').length
  const texts = BESIDES[language]
  return [
    ...(forOwner === 0 ? [] : [texts.waits(forOwner)]),
    ...(pending + running === 0 ? [] : [texts.queue(pending, running)]),
  ]
}

/** Contract: undefined if the question names no todo by its code. */
export async function answerWhyOfTodo(sources: PastSources, text: string, voice: Voice): Promise<Said | undefined> {
  const code = /(?<![\w-])T\d{3,6}(?!\w)/i.exec(text)?.[0].toUpperCase()
  if (code === undefined) return undefined
  const found = await findPastTodos(sources, { choice: 'all', words: text })
  const plans = found.plans.flatMap((plan) => {
    const todos = plan.todos.filter((todo) => todo.code === code)
    return todos.length > 0 ? [{ ...plan, todos }] : []
  })
  if (plans.length === 0) return undefined
  return { text: describeTodos({ ...found, plans, left_out: 0 }, undefined, voice), label: lowestOf(plans) }
}
