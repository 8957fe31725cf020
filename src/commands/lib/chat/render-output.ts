/** The output of a command as a short message: one line per item of a list, one line per field of anything else. */

import { clipText } from '../../../domain/clean-summary.ts'
import type { Language } from '../../../domain/language.ts'
import { shortId } from '../../../domain/short-id.ts'

/** A longer text is hard to read in a chat; the command line shows everything. */
const MAX_MESSAGE = 3500
const MAX_VALUE = 160
const MAX_TEXT = 2500
const MAX_ITEMS = 20
/** Fields that say most about an item, in this order. */
const TELLING = [
  ...['dispatch_id', 'session_id', 'schedule_id', 'cycle_id', 'agent_id', 'id', 'name', 'key', 'channel', 'kind'],
  ...['status', 'state', 'enabled', 'title', 'tool', 'text', 'summary', 'connection', 'next_at', 'created_at'],
  ...['started_at', 'usd', 'model', 'scope', 'trouble', 'problem', 'error', 'day', 'spent_usd', 'limit_usd', 'version'],
]
const MAX_TOLD = 5
/** Fields beside a list that are not for a chat: how many there are in all, and agents that are built in. */
const BESIDE_ITEMS = new Set(['total', 'others'])

type Fields = Readonly<Record<string, unknown>>

/** Contract: pure. Texts from records may quote anyone; they cannot form a link. */
export function renderOutput(name: string, output: unknown, language: Language): string {
  const text = clipText(linesOf(output, language, 0).join('\n') || TEXTS[language].nothing, MAX_MESSAGE)
  return text.length < MAX_MESSAGE ? text : `${text}\n${TEXTS[language].more(name)}`
}

function linesOf(value: unknown, language: Language, depth: number): readonly string[] {
  if (!isFields(value)) return value === null || value === undefined ? [] : [plain(value)]
  const { items, answer, ...rest } = value
  if (typeof answer === 'string') return [clipText(answer, MAX_MESSAGE)]
  // Written for people, in both languages.
  const { text, zh } = rest
  if (typeof text === 'string' && typeof zh === 'string') return [clipText(language === 'zh' ? zh : text, MAX_MESSAGE)]
  const listed = Array.isArray(items) ? itemLines(items, language) : []
  const fields = Object.entries(rest).filter(([key]) => !(Array.isArray(items) && BESIDE_ITEMS.has(key)))
  return [...listed, ...fields.flatMap(([key, field]) => fieldLines(key, field, language, depth))]
}

function itemLines(items: readonly unknown[], language: Language): readonly string[] {
  if (items.length === 0) return [TEXTS[language].nothing]
  const shown = items.slice(0, MAX_ITEMS).map((item) => `- ${isFields(item) ? tellingOf(item) : plain(item)}`)
  return items.length > MAX_ITEMS ? [...shown, TEXTS[language].others(items.length - MAX_ITEMS)] : shown
}

function tellingOf(item: Fields): string {
  const told = TELLING.filter((key) => isPlain(item[key])).slice(0, MAX_TOLD)
  const keys = told.length > 0 ? told : Object.keys(item).filter((key) => isPlain(item[key]))
  return keys
    .slice(0, MAX_TOLD)
    .map((key) => cell(key, item[key]))
    .join(' · ')
}

function fieldLines(key: string, value: unknown, language: Language, depth: number): readonly string[] {
  const indent = '  '.repeat(depth)
  const label = language === 'zh' ? (ZH[key] ?? key) : key.replaceAll('_', ' ')
  if (isPlain(value)) return [`${indent}- ${label}: ${cell(key, value)}`]
  if (Array.isArray(value))
    return value.length === 0 ? [] : [`${indent}- ${label}:`, ...itemLines(value, language).map((line) => `  ${line}`)]
  if (!isFields(value) || depth > 1) return []
  const inner = linesOf(value, language, depth + 1)
  return inner.length === 0 ? [] : [`${indent}- ${label}:`, ...inner]
}

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null
const isPlain = (value: unknown): boolean => value !== null && value !== undefined && value !== '' && !isFields(value)

const cell = (key: string, value: unknown): string => {
  if (/(^|_)id$/.test(key)) return `\`${shortId(plain(value))}\``
  if (key === 'content' || key === 'diff') return `\n${clipText(String(value), MAX_TEXT)}`
  return plain(value)
}

function plain(value: unknown): string {
  const text = String(value).replaceAll(/\s+/g, ' ').replaceAll('](', '] (')
  return clipText(text, MAX_VALUE)
}

const TEXTS = {
  en: {
    nothing: 'none',
    others: (count: number) => `… and ${count} more`,
    more: (name: string) => `… all of it: tireless ${name}`,
  },
  zh: {
    nothing: '无',
    others: (count: number) => `……还有 ${count} 项`,
    more: (name: string) => `……全部内容：tireless ${name}`,
  },
} as const satisfies Record<Language, object>

const ZH: Readonly<Record<string, string>> = {
  ...{ id: '编号', name: '名称', status: '状态', state: '状态', title: '标题', agent_id: '智能体', agents: '智能体' },
  ...{ dispatch_id: '任务', session_id: '会话', cycle_id: '周期', enabled: '启用', error: '错误', result: '结果' },
  ...{ created_at: '创建', started_at: '开始', ended_at: '结束', next_at: '下次', prompt: '提示', schedule: '计划' },
  ...{ priority: '优先级', model: '模型', target: '目标', runs: '运行', health: '健康', reasons: '原因', text: '内容' },
  ...{
    duplicate: '重复',
    workspace: '工作目录',
    was: '之前',
    day: '日期',
    usd: '美元',
    calls: '调用',
    summary: '小结',
  },
  ...{
    paused: '已暂停',
    channel: '通道',
    chat_id: '聊天',
    expires_at: '过期',
    tool: '工具',
    args: '参数',
    reason: '原因',
  },
}
