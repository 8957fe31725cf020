/** `/model`: the model of this chat. In the chat that gets the notices, it is the model of the kernel's runs, too. */

import { asTirelessError } from '../../../domain/error.ts'
import type { Language } from '../../../domain/language.ts'
import type { ChatMessage } from '../../../domain/message.ts'
import { scopeKey, selectedModelFor } from '../../../domain/model-selection.ts'
import type { ModelEntry } from '../../../ports/model.ts'
import type { Needs } from '../context.ts'
import { type ChatEffect, replyOnly } from './chat-effect.ts'

type ModelNeeds = Needs<'clock' | 'models' | 'notifier' | 'store'>

const MAX_SHOWN = 20

/** Contract: `rest` is empty, the name of a model or a part of it, or `default`. */
export async function chooseChatModel(
  context: ModelNeeds,
  message: ChatMessage,
  rest: string,
  language: Language,
): Promise<ChatEffect> {
  const { models, clock, notifier } = context
  const wanted = rest.trim()
  const usable = (await models.list()).filter(({ problem, key }) => problem === null && key !== 'missing')
  if (wanted === '') return replyOnly(await describeModel(context, message, usable, language))
  const texts = TEXTS[language]
  try {
    const model = wanted === 'default' ? null : models.get(completeName(wanted, usable)).id
    const { channel, chat_id } = message
    const scope = scopeKey({ channel, ...(chat_id === null ? {} : { chat: chat_id }) })
    const target = await notifier.target()
    const isKernels = target?.channel === channel && target.chat_id === chat_id
    const shown = model ?? texts.standard((await models.choice()).id)
    return {
      ...{ kind: 'command', ops: [{ op: 'select', scope, model, now: clock.now() }] },
      text: [texts.chosen(shown), ...(isKernels ? [texts.kernelToo] : [])].join('\n'),
    }
  } catch (thrown) {
    return replyOnly([asTirelessError(thrown).problem, ...choices(usable, language)].join('\n'))
  }
}

/** Contract: the only usable model whose name contains the text; otherwise the text itself. */
function completeName(wanted: string, usable: readonly ModelEntry[]): string {
  if (usable.some(({ id }) => id === wanted)) return wanted
  const [only, second] = usable.filter(({ id }) => id.toLowerCase().includes(wanted.toLowerCase()))
  return only && !second ? only.id : wanted
}

async function describeModel(
  { models, store }: ModelNeeds,
  { channel, chat_id, user_id }: ChatMessage,
  usable: readonly ModelEntry[],
  language: Language,
): Promise<string> {
  const selected = selectedModelFor({ channel, chat_id, user_id }, await store.selections())
  const texts = TEXTS[language]
  const current = selected ?? texts.standard((await models.choice()).id)
  return [texts.current(current), ...choices(usable, language)].join('\n')
}

function choices(usable: readonly ModelEntry[], language: Language): readonly string[] {
  const names = usable.slice(0, MAX_SHOWN).map(({ id }) => `- \`/model ${id}\``)
  return [TEXTS[language].choices, ...names, '- `/model default`']
}

const TEXTS = {
  en: {
    current: (model: string) => `Model of this chat: ${model}.`,
    chosen: (model: string) => `This chat now uses ${model}, from the next run on.`,
    standard: (model: string) => `the default model (${model})`,
    kernelToo: 'The kernel’s own runs use it, too, because its notices come here.',
    choices: 'To change it:',
  },
  zh: {
    current: (model: string) => `本会话的模型：${model}。`,
    chosen: (model: string) => `从下一次运行起，本会话使用 ${model}。`,
    standard: (model: string) => `默认模型（${model}）`,
    kernelToo: '内核的通知发到这里，所以内核自己的运行也使用它。',
    choices: '更换：',
  },
} as const satisfies Record<Language, object>
