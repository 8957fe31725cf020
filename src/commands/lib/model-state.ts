/** The default model and the keys of this process, as `status` and `models` show them. */

import { z } from 'zod'
import { isOfflineModel, type Models } from '../../ports/model.ts'

export const OFFLINE_NOTICE = {
  text:
    'No model is configured. The built-in offline model stands in: it follows simple rules and cannot understand ' +
    'language. For real work set an API key; see: tireless models list',
  zh: '没有配置模型。内置的离线模型只是替身：它按简单规则工作，不理解语言。要真正工作请设置 API 密钥；见：tireless models list',
} as const

export const keyVariables = z
  .array(z.object({ provider: z.string(), variable: z.string(), is_set: z.boolean() }))
  .describe('environment variables of API keys, and whether the process that answers has them')

export const modelState = z.object({
  id: z.string(),
  why: z.string(),
  note: z.string().nullable().describe('says that the model is only a stand-in'),
  keys: keyVariables,
})

export async function readModelState(models: Models): Promise<z.infer<typeof modelState>> {
  const { id, why } = await models.choice()
  return { id, why, note: isOfflineModel(id) ? OFFLINE_NOTICE.text : null, keys: copyKeys(models) }
}

export const copyKeys = (models: Models): z.infer<typeof keyVariables> => models.keys().map((key) => ({ ...key }))
