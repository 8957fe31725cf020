/** Sets up channels: adds one with its keys and tests it, removes one. */

import { z } from 'zod'
import { TirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'
import type { PeopleText } from '../domain/language.ts'
import { setNoticeTarget } from '../kernel/notify/notice-target.ts'
import { PAIRED_SETTING, readPairedChats, storePairedChats } from '../kernel/notify/pairing.ts'
import { commitOne } from '../ports/store.ts'
import { auditOwnerAction } from './audit.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { removedPartShape, removePart, tellOtherName } from './lib/part-secrets.ts'
import { probeChannel } from './lib/probe-channel.ts'
import { takeBackSecret } from './lib/take-back-secret.ts'

const NAMES = ['lark', 'webhook'] as const
type Name = (typeof NAMES)[number]

/** The names under which the secrets of channels are stored. */
const SECRET_NAMES: Readonly<Record<Name, string>> = { lark: 'LARK_APP_SECRET', webhook: 'WEBHOOK_SECRET' }

const LARK_STEPS: PeopleText = {
  text: [
    'How to get the keys of Lark or Feishu:',
    '1. Open https://open.feishu.cn/app (China) or https://open.larksuite.com/app, choose "Create Custom App".',
    '2. "Add Features": add the Bot.',
    '3. "Permissions & Scopes": add im:message, im:message:send_as_bot, im:message.p2p_msg:readonly,',
    '   im:message.group_at_msg:readonly and im:resource.',
    '4. "Credentials & Basic Info": copy the App ID and the App Secret.',
    'What to do in the console after that: docs/lark.md',
  ].join('\n'),
  zh: [
    '获取飞书或 Lark 的密钥：',
    '1. 打开 https://open.feishu.cn/app（国内）或 https://open.larksuite.com/app，选择“创建企业自建应用”。',
    '2. “添加应用能力”：添加机器人。',
    '3. “权限管理”：添加 im:message、im:message:send_as_bot、im:message.p2p_msg:readonly、',
    '   im:message.group_at_msg:readonly 和 im:resource。',
    '4. “凭证与基础信息”：复制 App ID 和 App Secret。',
    '之后在控制台的步骤见 docs/lark.md',
  ].join('\n'),
}

const WEBHOOK_STEPS: PeopleText = {
  text: 'A webhook needs the address that gets the messages, and a secret of your choice that both sides know.',
  zh: 'webhook 需要接收消息的地址，以及双方都知道的、由你选定的密钥。',
}

const HELP: Readonly<Record<Name, PeopleText>> = { lark: LARK_STEPS, webhook: WEBHOOK_STEPS }

export const channelsAdd = defineCommand({
  name: 'channels add',
  summary: 'set up a channel: asks for its keys, tests it and writes it into the configuration',
  example: 'channels add lark',
  runsIn: 'any_process',
  needs: ['changeConfig', 'channels', 'clock', 'connections', 'explainConfig', 'secrets', 'signals', 'store'],
  positional: ['name'],
  prompts: [
    { key: 'app_id', when: ['lark'], before: LARK_STEPS, question: { text: 'App ID (cli_…)', zh: 'App ID（cli_…）' } },
    {
      ...{ key: 'domain', when: ['lark'], fallback: 'feishu' },
      question: { text: 'feishu or lark', zh: 'feishu（飞书）或 lark' },
    },
    {
      key: 'url',
      when: ['webhook'],
      before: WEBHOOK_STEPS,
      question: { text: 'Address (https://…)', zh: '地址（https://…）' },
    },
  ],
  input: z.object({
    name: z.enum(NAMES).describe('the channel to add'),
    app_id: z.string().min(1).optional().describe('lark: App ID of the app'),
    domain: z.string().min(1).optional().describe('lark: feishu, lark, or an address; default: feishu'),
    mode: z.enum(['connection', 'webhook']).optional().describe('lark: how messages arrive; default: connection'),
    encrypt_key_env: z.string().min(1).optional().describe('lark, mode webhook: variable with the Encrypt Key'),
    url: z.string().min(1).optional().describe('webhook: address that gets the messages'),
    chat: z.string().min(1).optional().describe('chat for messages that name no chat'),
    untested: z.boolean().default(false).describe('keep the channel even if the test fails'),
    secret: z.string().min(1).meta({ secret: true }),
  }),
  output: z.object({
    name: z.enum(NAMES),
    tested: z.string().nullable().describe('what answered the test; null: it was not tested'),
    next: z.string().describe('what to run next'),
    secret: z.string().describe('the secret that has its key'),
  }),
  async run(context, { name, secret, untested, ...given }, tell) {
    const kept = context.secrets.nameFor(partOf(name), SECRET_NAMES[name])
    const settings = settingsOf(name, kept, given, tell)
    if (isConfigured(context, name))
      throw new TirelessError('conflict', {
        what: `channels.${name} is configured already`,
        fix: `test it: tireless channels test ${name}; or remove it first: tireless channels remove ${name}`,
      })
    const takeBack = context.secrets.setFor(partOf(name), kept, secret)
    let isWritten = false
    try {
      context.changeConfig([{ path: ['channels', name], value: settings }])
      isWritten = true
      const tested = untested ? null : await probeChannel(context, name)
      await auditOwnerAction(context, 'channel', { name, added: true })
      context.connections.refresh()
      tellOtherName(tell, SECRET_NAMES[name], kept)
      tell({ kind: 'note', ...NEXT(name) })
      return { name, tested, next: `tireless channels pair ${name}`, secret: kept }
    } catch (thrown) {
      if (isWritten) context.changeConfig([{ path: ['channels', name], value: undefined }])
      const error = takeBackSecret(takeBack, kept, thrown)
      if (!isWritten) throw error
      const { code, message } = error
      throw new TirelessError(code, {
        what: `${name} was not added, because its test failed: ${message}`,
        fix: `correct the keys and run it again, or keep it as it is: tireless channels add ${name} --untested`,
      })
    }
  },
})

const NEXT = (name: Name): PeopleText => ({
  text: `Added ${name}. Pair your chat next: tireless channels pair ${name}`,
  zh: `已添加 ${name}。接下来配对聊天：tireless channels pair ${name}`,
})

const UNPAIRED = (name: Name, count: number): PeopleText => ({
  text: `Its paired chats (${count}) do not come back; pair them anew after tireless channels add ${name}`,
  zh: `已配对的聊天（${count} 个）不会自动恢复；重新 tireless channels add ${name} 之后请再次配对`,
})

type Given = Readonly<Record<'app_id' | 'domain' | 'mode' | 'encrypt_key_env' | 'url' | 'chat', string | undefined>>

/** Contract: throws `usage`, and tells how to get what is missing. */
function settingsOf(
  name: Name,
  secret: string,
  given: Partial<Given>,
  tell: (note: { kind: 'note' } & PeopleText) => void,
): Json {
  const { app_id, domain, mode, encrypt_key_env, url, chat } = given
  const needed = name === 'lark' ? app_id : url
  if (needed === undefined) {
    tell({ kind: 'note', ...HELP[name] })
    const option = name === 'lark' ? '--app-id' : '--url'
    throw new TirelessError('usage', {
      what: `${name} needs ${option}`,
      fix: `tireless channels add ${name} ${option} …`,
    })
  }
  const fields =
    name === 'lark'
      ? { app_id, app_secret: `secret:${secret}`, domain, mode, encrypt_key_env, chat_id: chat }
      : { url, secret: `secret:${secret}`, chat_id: chat }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Json
}

const partOf = (name: Name): string => `channels.${name}`

const isConfigured = ({ explainConfig }: Needs<'explainConfig'>, name: Name): boolean =>
  explainConfig().items.some(({ key }) => key.startsWith(`channels.${name}.`))

export const channelsRemove = defineCommand({
  name: 'channels remove',
  summary: 'remove a channel from the configuration, with its paired chats, and the secret of channels add',
  example: 'channels remove lark',
  runsIn: 'any_process',
  needs: ['changeConfig', 'clock', 'connections', 'explainConfig', 'notifier', 'secrets', 'store'],
  positional: ['name'],
  input: z.object({ name: z.enum(NAMES).describe('the channel to remove') }),
  output: z.object({
    name: z.enum(NAMES),
    unpaired: z.number().describe('number of chats that were paired'),
    ...removedPartShape,
  }),
  async run(context, { name }, tell) {
    const { store, notifier } = context
    if (!isConfigured(context, name))
      throw new TirelessError('not_found', {
        what: `channels.${name} is not configured`,
        fix: 'tireless channels list',
      })
    const target = await notifier.target()
    const removed = removePart(context, ['channels', name], tell)
    const paired = readPairedChats(await store.setting(PAIRED_SETTING))
    const left = paired.filter(({ channel }) => channel !== name)
    const unbind = target?.by === 'person' && target.channel === name ? [setNoticeTarget(null)] : []
    await commitOne(store, [storePairedChats(left), ...unbind])
    await auditOwnerAction(context, 'channel', { name, added: false })
    context.connections.refresh()
    const unpaired = paired.length - left.length
    if (unpaired > 0) tell({ kind: 'note', ...UNPAIRED(name, unpaired) })
    return { name, unpaired, ...removed }
  },
})
