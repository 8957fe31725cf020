/** Shows cycles and models. */

import { OFFLINE_NOTICE } from '../../commands/lib/model-state.ts'
import type { CommandOutput } from '../../commands/lib/registry.ts'
import { countEarlier } from '../../domain/cycle.ts'
import { describeParts } from '../../domain/error.ts'
import { inOwnLanguage, terminalLanguage } from './language.ts'
import { formatTable } from './table.ts'

const TEXTS = {
  en: {
    columns: { earlier: 'earlier', price: 'price per million tokens' },
    nothingChanged: 'Nothing was stored.',
    usedByDefault: 'Stored; it is the default model from now on.',
    added: 'Stored.',
    price: (input: number, output: number) => `$${input} in, $${output} out`,
    unusable: (id: string, problem: string) => `${id} cannot be used: ${problem}`,
    default: (id: string, why: string | null) => `default: ${id}${why ? ` (${why})` : ''}`,
    chosen: (scope: string, model: string) => `chosen for ${scope}: ${model}`,
    noKeys: (names: string) => `no key for: ${names}`,
    howTo: (variable: string) => [
      'To use a model:',
      `  1. In the shell that starts Tireless: export ${variable}=…   (a local server, such as Ollama, needs no key)`,
      '  2. Start again: tireless stop, then tireless start',
      '  3. Try it: tireless models test',
      'To choose another one, set models.default in tireless.yaml, or use --model with run and agent new.',
    ],
  },
  zh: {
    columns: { earlier: '早先的', price: '价格（每百万 token）' },
    nothingChanged: '没有保存任何内容。',
    usedByDefault: '已保存，从现在起它是默认模型。',
    added: '已保存。',
    price: (input: number, output: number) => `输入 $${input}，输出 $${output}`,
    unusable: (id: string, problem: string) => `${id} 不能使用：${problem}`,
    default: (id: string, why: string | null) => `默认：${id}${why ? `（${why}）` : ''}`,
    chosen: (scope: string, model: string) => `${scope} 选用：${model}`,
    noKeys: (names: string) => `没有密钥：${names}`,
    howTo: (variable: string) => [
      '要使用模型：',
      `  1. 在启动 Tireless 的 shell 中：export ${variable}=…   （本地服务器如 Ollama 不需要密钥）`,
      '  2. 重新启动：tireless stop，然后 tireless start',
      '  3. 试一试：tireless models test',
      '要换一个模型，请在 tireless.yaml 中设置 models.default，或在 run 和 agent new 时使用 --model。',
    ],
  },
} as const

const texts = () => TEXTS[terminalLanguage()]

export function renderCycles({ items }: CommandOutput<'cycles list'>): string {
  const { earlier } = texts().columns
  return formatTable(
    items.map(({ result, ...cycle }) => ({
      ...{ ...cycle, status: 'running', dispatched: null, succeeded: null, failed: null, parked: null },
      ...result,
      [earlier]: result && countEarlier(result),
      why: result?.error ?? result?.idle_reason ?? null,
    })),
    ['cycle_id', 'trigger', 'started_at', 'status', 'dispatched', earlier, 'succeeded', 'failed', 'parked', 'why'],
  )
}

export function renderModels({ items, selections, keys }: CommandOutput<'models list'>): string {
  const { columns, price: sayPrice, unusable, default: sayDefault, chosen } = texts()
  const rows = items.map(({ id, key, price }) => ({
    ...{ id, key },
    [columns.price]: price && sayPrice(price.input, price.output),
  }))
  return [
    formatTable(rows, ['id', 'key', columns.price]),
    ...items.flatMap(({ id, problem }) => (problem === null ? [] : [unusable(id, problem)])),
    ...items.filter(({ is_default }) => is_default).map(({ id, why }) => sayDefault(id, why)),
    ...selections.map(({ scope, model }) => chosen(scope, model)),
    ...missingKeys(keys),
  ].join('\n')
}

/** Where keys are to be set. Tireless reads them when it starts. */
function missingKeys(keys: CommandOutput<'models list'>['keys']): readonly string[] {
  const missing = keys.filter(({ is_set }) => !is_set)
  const [first] = missing
  if (!first) return []
  const names = missing.map(({ provider, variable }) => `${provider} (${variable})`).join(', ')
  return [texts().noKeys(names), ...texts().howTo(first.variable)]
}

/** Each part of an error has its own line: what happened, got, expected, do this. */
export function renderModelTest(test: Omit<CommandOutput<'models test'>, 'keys'>): string {
  const { model, ok, latency_ms, usage, code, error_parts, note } = test
  if (!ok) return [`${model}: FAILED (${code})`, ...partLines(error_parts)].join('\n')
  const tokens = usage ? `, ${usage.input_tokens} tokens in, ${usage.output_tokens} out` : ''
  return [
    `${model}: works; answered in ${latency_ms} ms${tokens}`,
    ...(note === null ? [] : [inOwnLanguage(OFFLINE_NOTICE)]),
  ].join('\n')
}

export function renderAddedModel({ stored, is_default, ...test }: CommandOutput<'models add'>): string {
  const { nothingChanged, usedByDefault, added } = texts()
  return [renderModelTest(test), !stored ? nothingChanged : is_default ? usedByDefault : added].join('\n')
}

const partLines = (parts: CommandOutput<'models test'>['error_parts']): readonly string[] =>
  parts === null ? [] : describeParts(parts).map((part) => `  ${part}`)
