/** The agents of the home, and those that a question names. */

import { ASSISTANT } from '../domain/agent.ts'
import type { KnownAgent, PastSources } from './past-sources.ts'

/** Everyday words, which name an agent only by chance. */
const EVERYDAY: ReadonlySet<string> = new Set(['default'])

const isNamed = (text: string, name: string): boolean =>
  !EVERYDAY.has(name) && new RegExp(`(?<![\\w-])${RegExp.escape(name)}(?![\\w-])`, 'i').test(text)

/** Contract: agents that are configured now, or have run before, if the text names them. */
export async function agentsIn({ store, agents }: PastSources, text: string): Promise<readonly string[]> {
  const ran = (await store.dispatches({ limit: 1000 })).map(({ agent_id }) => agent_id)
  const names = new Set([...agents().map(({ agent_id }) => agent_id), ...ran])
  const found = [...names].filter((name) => isNamed(text, name))
  // Of "mail" and "mail-sorter", the longer name is meant.
  return found.filter((name) => !found.some((other) => other !== name && other.includes(name)))
}

const NO_NAMES: ReadonlySet<string> = new Set([
  ...['you', 'u', 'ya', 'we', 'it', 'they', 'i', 'he', 'she', 'that', 'this', 'there', 'everyone', 'everybody', 'all'],
  ...[
    'agent',
    'agents',
    'tireless',
    'system',
    'kernel',
    'assistant',
    'your',
    'my',
    'our',
    'the',
    'anything',
    'a',
    'an',
  ],
  ...[
    '你',
    '你们',
    '下次',
    '明天',
    '今天',
    '后天',
    '接下来',
    '任务',
    '智能体',
    '代理',
    '助手',
    '你下次',
    '下一次',
    '它们',
  ],
  ...['something', 'next', 'one', 'work', 'task', 'run', 'job', 'queue', 'anyone', 'somebody', 'going', 'who', 'what'],
])

const SUBJECTS: readonly RegExp[] = [
  /\bwhat (?:did|has|have|does|was|is) (?:the )?([\p{L}\w-]+) (?:do|done|doing|been|up to|achieve|finish|get)\b/iu,
  /\bwhen (?:does|do|will|is) (?:the )?([\p{L}\w-]+) (?:run|start|next|due|going|be|go)\b/iu,
  /\bnext run of (?:the )?([\p{L}\w-]+)/iu,
  /([\w-]+)\s*(?:下次|下一次)?(?:什么时候|几点|何时|啥时候)/u,
  /^(\p{Script=Han}{2,8}?)(?:下次|下一次)?(?:什么时候|几点|何时|啥时候)(?:再|会|要)*(?:运行|跑|启动|开始)/u,
]

/** Contract: pure; the name that the question asks about as if it were an agent; undefined: none. */
export function subjectOf(text: string): string | undefined {
  for (const pattern of SUBJECTS) {
    const name = pattern.exec(text)?.[1]
    if (name !== undefined && !NO_NAMES.has(name.toLowerCase())) return name
  }
  return undefined
}

/** Contract: pure; the agents that work by themselves or on messages, those that are switched off last. */
export const byUse = (agents: readonly KnownAgent[]): readonly KnownAgent[] =>
  agents.toSorted((a, b) => Number(isOff(a)) - Number(isOff(b)))

/** The owner's agent runs on messages, enabled or not. */
export const isOff = ({ agent_id, enabled }: KnownAgent): boolean => !enabled && agent_id !== ASSISTANT
