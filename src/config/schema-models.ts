/** Schemas of models and their providers. */

import { z } from 'zod'
import { PROVIDER_TYPES } from '../domain/provider-type.ts'
import {
  atMostOne,
  customIssue,
  httpUrl,
  isMapping,
  namedMapping,
  nonEmptyText,
  safeName,
  textWithoutSpaces,
  timeLimit,
  tokenCount,
  tokenLimit,
  tokenPrice,
  variableName,
} from './value-types.ts'

const provider = z
  .strictObject({
    type: z.enum(PROVIDER_TYPES),
    base_url: httpUrl.optional(),
    api_key: z
      .string()
      .optional()
      .describe(
        'prefer secret:NAME, api_key_env or api_key_file; redacted everywhere, unless it is short or an ordinary word',
      ),
    api_key_env: variableName.optional(),
    api_key_file: nonEmptyText.optional().describe('relative to the configuration file'),
    headers: namedMapping(textWithoutSpaces, z.string()).prefault({}),
    stream: z.boolean().prefault(true),
    timeout: timeLimit.optional().describe('default: models.timeout'),
  })
  .superRefine(atMostOne('api_key', 'api_key_env', 'api_key_file'), { when: isMapping })
  .superRefine(
    (value, context) => {
      if (value.type !== 'openai-compatible' || value.base_url !== undefined) return
      const expected = 'an address such as http://127.0.0.1:11434/v1, because the type is openai-compatible'
      context.addIssue({ ...customIssue(expected, undefined, 'add base_url here'), path: ['base_url'] })
    },
    { when: isMapping },
  )

export const modelsSchema = z.strictObject({
  default: textWithoutSpaces
    .nullable()
    .prefault(null)
    .describe('provider/model; null: detected from keys and local servers'),
  fallback: z.array(textWithoutSpaces).prefault([]),
  planner: textWithoutSpaces.nullable().prefault(null).describe('null: the default model'),
  timeout: timeLimit.prefault('2m').describe('a call that sends no data for this long is aborted'),
  providers: namedMapping(safeName, provider).prefault({}),
  prices: namedMapping(
    textWithoutSpaces,
    z.strictObject({
      input: tokenPrice,
      output: tokenPrice,
      cached: tokenPrice.optional().describe('default: input'),
      cache_write: tokenPrice.optional().describe('default: input'),
      max_output: tokenCount.optional().describe('default: models.max_output'),
    }),
  )
    .prefault({})
    .describe('USD per million tokens, by provider/model; * matches anything'),
  max_output: tokenCount.prefault(8192).describe('tokens of one answer'),
  max_input: tokenLimit.prefault(150_000).describe('tokens of one request; older history is shortened until it fits'),
})
