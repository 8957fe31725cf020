/**
 * Builds the final answer in the language of the task: each step with its result, then sentences without a rule. Pure.
 */

import { assertNever } from '../../../domain/error.ts'
import { OFFLINE_SENTENCES } from '../../../domain/offline-sentences.ts'
import { truncateText } from '../../../domain/truncate.ts'
import { isChinese } from './clauses.ts'
import { type Attempt, nextStepAction, type StepAction } from './next-call.ts'
import type { OfflineStep } from './offline-step.ts'

interface StepProgress {
  readonly step: OfflineStep
  readonly tried: readonly Attempt[]
}

const ENGLISH = {
  done: 'done',
  failed: 'FAILED',
  unable: (tool: string) => `NOT DONE: the tool \`${tool}\` is not available`,
  notUnderstood: 'NOT UNDERSTOOD, nothing was done',
  noResult: 'no result',
  nothing:
    'The built-in offline model understood no sentence of this task, so nothing was done. ' +
    'For real work add a model: on the page in Settings → Models, or see `tireless models list`.',
  noTask: 'There was no new task, so nothing was done.',
  cut: '… (truncated)',
  more: 'The other sentences of the task: not understood, nothing was done.',
  beyond: (words: string) => `; NOT UNDERSTOOD in it: ${words}`,
}

const CHINESE: typeof ENGLISH = {
  done: '完成',
  failed: '失败',
  unable: (tool) => `未做：这里没有提供工具 \`${tool}\``,
  notUnderstood: '看不懂，什么也没有做',
  noResult: '没有看到结果',
  nothing:
    '内置的离线模型一句也没看懂，所以什么也没有做。要做真正的工作，请添加一个模型：' +
    '在页面的“设置 → 模型”里，或见 `tireless models list`。',
  noTask: '没有新的任务，所以什么也没有做。',
  cut: '……（在此截断）',
  more: '任务的其他句子：看不懂，没有做。',
  beyond: (words) => `；其中看不懂的：${words}`,
}

/** The summary heading that unattended tasks ask for. */
const SUMMARY = /## (?:执行总结|Execution Summary)/

/** Most unknown sentences that the answer quotes; a prompt may have thousands. */
const MAX_UNKNOWN = 10

export function buildFinalAnswer(steps: readonly StepProgress[], tools: ReadonlySet<string>, task: string): string {
  const texts = isChinese(task) ? CHINESE : ENGLISH
  const unknown = steps.filter(({ step }) => step.kind === 'unknown')
  // A task for a report describes it at length, so unknown sentences are not quoted.
  const makesReport = steps.some(({ step }) => step.kind === 'report' || step.kind === 'index')
  const uncited = new Set(unknown.slice(makesReport ? 0 : MAX_UNKNOWN))
  const lines = steps
    .filter((each) => !uncited.has(each))
    .map(({ step, tried }, index) => {
      const beyond = 'beyond' in step && step.beyond !== '' ? texts.beyond(JSON.stringify(shorten(step.beyond))) : ''
      return (
        `${index + 1}. ${shorten(describeStep(step))}: ` +
        `${describeOutcome(nextStepAction(step, tried, tools), tried, texts)}` +
        `${beyond}`
      )
    })
  if (uncited.size > 0) lines.push(texts.more)
  const opening = steps.length === 0 ? [texts.noTask] : unknown.length === steps.length ? [texts.nothing] : []
  const closing =
    (unknown.length > 0 && !makesReport) || steps.length === 0
      ? ['', ...OFFLINE_SENTENCES[isChinese(task) ? 'zh' : 'en']]
      : []
  const [heading] = SUMMARY.exec(task) ?? []
  return [...(heading ? [heading] : []), ...opening, ...lines, ...closing].join('\n')
}

const shorten = (name: string): string => truncateText(name, 200)

function describeStep(step: OfflineStep): string {
  switch (step.kind) {
    case 'create':
      return `create_file ${step.path}`
    case 'append':
      return `append ${JSON.stringify(step.line)} → ${step.path}`
    case 'view':
      return `view_file ${step.path}`
    case 'list':
      return `list_files ${step.path}`
    case 'run':
      return `bash ${JSON.stringify(step.command)}`
    case 'wait':
      return `wait ${step.for}${step.until === undefined ? '' : ` (${step.until})`}`
    case 'report':
    case 'index':
      return `${step.kind} ${step.path}`
    case 'tool':
      return `${step.tool} ${JSON.stringify(step.args)}`
    case 'unknown':
      return JSON.stringify(step.words)
    default:
      return assertNever(step)
  }
}

function describeOutcome(action: StepAction, tried: readonly Attempt[], texts: typeof ENGLISH): string {
  if (action.kind === 'not_understood') return texts.notUnderstood
  if (action.kind === 'unable') return texts.unable(action.tool)
  const result = tried.at(-1)?.result
  if (!result) return `${texts.failed}: ${texts.noResult}`
  return `${result.ok ? texts.done : texts.failed}${formatOutput(result.text, texts.cut)}`
}

const MAX_OUTPUT = 4000

function formatOutput(text: string, cut: string): string {
  const shortened = truncateText(text, MAX_OUTPUT, { mark: `\n${cut}` })
  const lines = shortened.trimEnd().split('\n')
  if (lines.length > 1) return `\n${lines.map((line) => `   | ${line}`).join('\n')}`
  return lines[0] ? `: ${lines[0]}` : ''
}
