/** Sets up models: adds a provider with its key after a test, removes one, and chooses what is used by default. */

import { z } from 'zod'
import { asTirelessError, TirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'
import { scopeKey } from '../domain/model-selection.ts'
import { PROVIDER_TYPES, type ProviderType } from '../domain/provider-type.ts'
import type { TrialProvider } from '../ports/model-setup.ts'
import { commitOne } from '../ports/store.ts'
import { auditOwnerAction } from './audit.ts'
import { defineCommand } from './lib/command.ts'
import type { ConfigChange, Needs } from './lib/context.ts'
import { removedPartShape, removePart, tellOtherName } from './lib/part-secrets.ts'
import { modelTrialSchema, TRY_MODEL_NEEDS, tryModel } from './lib/try-model.ts'

const NAME = 'a name of 1 to 40 letters, digits, - or _ that begins with a letter'

const providerInput = {
  type: z.enum(PROVIDER_TYPES).describe('kind of provider'),
  name: z
    .string()
    .regex(/^[A-Za-z][\w-]{0,39}$/, NAME)
    .optional()
    .describe('its name in provider/model; default: the type, or "local" for openai-compatible'),
  base_url: z.string().min(1).optional().describe('address; needed for openai-compatible'),
  secret: z.string().min(1).optional().meta({ secret: true }).describe('API key'),
}

interface GivenProvider {
  readonly type: ProviderType
  readonly name?: string | undefined
  readonly base_url?: string | undefined
  readonly secret?: string | undefined
}

/** Keys are pasted, often with a line break. */
function providerOf({ type, name, base_url, secret }: GivenProvider): TrialProvider {
  const api_key = secret?.trim()
  if (type === 'openai-compatible' && base_url === undefined)
    throw new TirelessError('usage', {
      ...{ what: 'the address is missing', where: 'base_url' },
      expected: 'an address such as http://127.0.0.1:8080/v1',
    })
  return {
    name: name ?? (type === 'openai-compatible' ? 'local' : type),
    type,
    base_url,
    api_key: api_key || undefined,
  }
}

export const modelsOffered = defineCommand({
  name: 'models offered',
  summary: 'ask a provider which models it offers, with a key that is not stored; costs nothing',
  example: 'models offered --type anthropic',
  runsIn: 'any_process',
  needs: ['modelSetup', 'signals'],
  input: z.object(providerInput),
  output: modelTrialSchema.pick({ ok: true, code: true, error: true }).extend({ models: z.array(z.string()) }),
  async run({ modelSetup, signals }, given) {
    try {
      const models = [...(await modelSetup.listOffered(providerOf(given), signals.abort))]
      return { ok: true, code: null, error: null, models }
    } catch (thrown) {
      const { code, message } = asTirelessError(thrown)
      return { ok: false, code, error: message, models: [] }
    }
  },
  exitCode: ({ ok }) => (ok ? 0 : 1),
})

const price = z.number().min(0).optional()

export const modelsAdd = defineCommand({
  name: 'models add',
  summary: 'add a provider: tests its key with one short request, then stores the key and uses the model',
  example: 'models add claude-sonnet-5-5 --type anthropic',
  runsIn: 'any_process',
  needs: [...TRY_MODEL_NEEDS, 'changeConfig', 'configInUse', 'models', 'modelSetup', 'secrets'],
  positional: ['model'],
  input: z.object({
    model: z.string().regex(/^\S+$/, 'text without spaces').describe('name of the model at the provider'),
    ...providerInput,
    input_price: price.describe('US dollars per million tokens that are sent; default: the list price'),
    output_price: price.describe('US dollars per million tokens that are received'),
    keep_default: z.boolean().default(false).describe('do not make it the default model'),
    untested: z.boolean().default(false).describe('store it even if the test fails'),
  }),
  output: modelTrialSchema.extend({
    provider: z.string(),
    stored: z.boolean().describe('false: the test failed, and nothing was changed'),
    is_default: z.boolean(),
    secret: z.string().nullable().describe('the secret that has the key; null: no key was stored'),
  }),
  async run(context, { model, input_price, output_price, keep_default, untested, ...given }, tell) {
    if ((await context.models.choice()).isSupplied)
      throw new TirelessError('usage', { what: 'the program supplies its model itself', fix: 'change the program' })
    const provider = providerOf(given)
    const id = `${provider.name}/${model}`
    const prices =
      input_price === undefined || output_price === undefined ? undefined : { input: input_price, output: output_price }
    const tested = await tryModel(context, id, () => context.modelSetup.openTrial(provider, { model, price: prices }))
    const stored = tested.ok || untested
    let secret: string | null = null
    if (stored) {
      secret = storeProvider(context, provider, [
        ...(prices ? [{ path: ['models', 'prices', id], value: prices }] : []),
        ...(keep_default ? [] : [{ path: ['models', 'default'], value: id }]),
      ])
      if (!keep_default) await dropSelection(context)
      await auditOwnerAction(context, 'model', { model: id, provider: provider.type, is_default: !keep_default })
      tellOtherName(tell, secretNameOf(provider.name), secret)
    }
    return { ...tested, provider: provider.name, stored, is_default: stored && !keep_default, secret }
  },
  exitCode: ({ ok, stored }) => (ok || stored ? 0 : 1),
})

const secretNameOf = (provider: string): string => `${provider.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_API_KEY`

const partOf = (provider: string): string => `models.providers.${provider}`

/** Writes the provider and `more` in one change; other keys of a configured provider stay. Returns the key's secret. */
function storeProvider(
  { changeConfig, secrets, configInUse }: Needs<'changeConfig' | 'secrets' | 'configInUse'>,
  { name, type, base_url, api_key }: TrialProvider,
  more: readonly ConfigChange[],
): string | null {
  const path = (key: string): readonly string[] => ['models', 'providers', name, key]
  const set = (key: string, value: Json | undefined): ConfigChange => ({ path: path(key), value })
  const secret = api_key === undefined ? null : secrets.nameFor(partOf(name), secretNameOf(name))
  const takeBack = secret !== null && api_key !== undefined ? secrets.setFor(partOf(name), secret, api_key) : undefined
  const has = (key: string): boolean => configInUse().some((item) => item.key === path(key).join('.'))
  const outdated = ['api_key_env', 'api_key_file', ...(base_url === undefined ? ['base_url'] : [])].filter(has)
  try {
    changeConfig([
      set('type', type),
      ...(base_url === undefined ? [] : [set('base_url', base_url)]),
      ...(secret === null ? [] : [set('api_key', `secret:${secret}`)]),
      ...outdated.filter((key) => secret !== null || key === 'base_url').map((key) => set(key, undefined)),
      ...more,
    ])
  } catch (thrown) {
    takeBack?.()
    throw thrown
  }
  return secret
}

/** A model that was chosen for everything by `models use` would be used in place of the default. */
async function dropSelection({ store, clock }: Needs<'store' | 'clock'>): Promise<boolean> {
  const scope = scopeKey({})
  const isChosen = (await store.selections()).some((selection) => selection.scope === scope)
  if (isChosen) await commitOne(store, [{ op: 'select', scope, model: null, now: clock.now() }])
  return isChosen
}

const ROLES = ['default', 'planner', 'fallback'] as const

export const modelsSet = defineCommand({
  name: 'models set',
  summary: 'write into the configuration which model is the default, plans, or stands in when another fails',
  example: 'models set fallback openai/gpt-5.6,ollama/llama3',
  runsIn: 'any_process',
  needs: ['changeConfig', 'clock', 'models', 'store'],
  positional: ['role', 'model'],
  input: z.object({
    role: z.enum(ROLES).describe('what the model is for'),
    model: z.string().describe('provider/model; for fallback several, separated by commas; "none" removes the choice'),
  }),
  output: z.object({ role: z.enum(ROLES), models: z.array(z.string()).describe('empty: none is chosen') }),
  async run(context, { role, model }) {
    const ids = model.trim() === 'none' ? [] : model.split(',').flatMap((id) => id.trim() || [])
    for (const id of ids) context.models.get(id)
    if (role !== 'fallback' && (ids.length > 1 || (ids.length === 0 && model.trim() !== 'none')))
      throw new TirelessError('usage', { what: `expected one model for ${role}, or "none"`, got: model })
    context.changeConfig([{ path: ['models', role], value: role === 'fallback' ? ids : (ids[0] ?? null) }])
    if (role === 'default') await dropSelection(context)
    return { role, models: ids }
  },
})

export const modelsRemove = defineCommand({
  name: 'models remove',
  summary: 'remove a provider from the configuration, with the key that models add stored for it',
  example: 'models remove openrouter',
  runsIn: 'any_process',
  needs: ['changeConfig', 'clock', 'modelSetup', 'secrets', 'store'],
  positional: ['name'],
  input: z.object({ name: z.string().min(1).describe('name of the provider in the configuration') }),
  output: z.object({ name: z.string(), ...removedPartShape }),
  async run(context, { name }, tell) {
    const { default: first, planner, fallback, providers } = context.modelSetup.describe()
    if (!providers.some((provider) => provider.name === name))
      throw new TirelessError('not_found', {
        ...{ what: 'no such provider in the configuration', got: name },
        expected: providers.map((provider) => provider.name).join(', ') || 'none is configured',
      })
    const used = [first, planner, ...fallback].filter((id): id is string => id?.startsWith(`${name}/`) ?? false)
    if (used.length > 0)
      throw new TirelessError('conflict', {
        ...{ what: `the provider is in use for ${used.join(', ')}`, got: name },
        fix: 'choose other models first: tireless models set default MODEL, planner or fallback',
      })
    const removed = removePart(context, ['models', 'providers', name], tell)
    await auditOwnerAction(context, 'model', { provider: name, removed: true })
    return { name, ...removed }
  },
})
