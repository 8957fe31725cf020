/** What waits for the owner, whatever it is, and his answers, each of which runs the command of its choice. */

import { z } from 'zod'
import { TirelessError } from '../domain/error.ts'
import type { Json } from '../domain/json.ts'
import { LANGUAGES, type Language, type PeopleText } from '../domain/language.ts'
import { NEED_KINDS, NEED_STATUSES, type Need, type NeedChoice, type NeedCommand } from '../domain/need.ts'
import { findNeed, findOpenNeeds, listEndedNeeds } from '../past/open-needs.ts'
import { commitOne } from '../ports/store.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { typedAs } from './lib/output-schemas.ts'

const choiceSchema = z.object({
  id: z.string(),
  text: z.string(),
  does: z.string().describe('what follows from this choice'),
  words: z.enum(['none', 'optional', 'required']).describe('whether words of yours go with it'),
})

const needSchema = z.object({
  id: z.string(),
  kind: z.enum(NEED_KINDS),
  agent_id: z.string().nullable(),
  session_id: z.string().nullable(),
  run_id: z.string().nullable(),
  asked_at: z.string(),
  expires_at: z.string().nullable(),
  after_expiry: z.string().nullable().describe('what happens when it expires'),
  because: z.object({ message_id: z.string(), words: z.string(), at: z.string() }).nullable(),
  same_as: z.string().describe('what it is about; only one such need is open at a time'),
  title: z.string(),
  body: z.string(),
  choices: z.array(choiceSchema),
  status: z.enum(NEED_STATUSES),
  answer: z.object({ choice: z.string(), words: z.string().nullable() }).nullable(),
  ended_at: z.string().nullable(),
})

const languageInput = z.enum(LANGUAGES).optional().describe('of the texts; default: of your agents')
const idInput = z.string().describe('id from needs list').meta({ idOf: 'need' })

type Context = Needs<'clock' | 'notifier' | 'store'>

const sourcesOf = ({ store, clock }: Context) => ({ store, now: () => clock.now() })

export const needsList = defineCommand({
  name: 'needs list',
  summary: 'list everything that waits for you: approvals, questions, failures and others',
  example: 'needs list',
  runsIn: 'any_process',
  needs: ['clock', 'notifier', 'store'],
  input: z.object({
    kind: z.enum(NEED_KINDS).optional().describe('only of this kind'),
    ended: z.boolean().default(false).describe('what was answered or has ended by itself, instead'),
    limit: z.int().positive().default(100).describe('maximum number'),
    offset: z.int().nonnegative().default(0).describe('number of earlier ones in the list to leave out'),
    language: languageInput,
  }),
  output: z.object({ items: z.array(needSchema), total: z.number() }),
  async run(context, { kind, ended, limit, offset, language }) {
    const found = ended ? await listEndedNeeds(sourcesOf(context)) : await openNeeds(context)
    const wanted = kind === undefined ? found : found.filter((need) => need.kind === kind)
    const items = wanted.slice(offset, offset + limit)
    return { items: items.map((need) => sayNeed(need, language ?? context.notifier.language())), total: wanted.length }
  },
})

const openNeeds = async (context: Context): Promise<readonly Need[]> =>
  (await findOpenNeeds(sourcesOf(context))).map(({ need }) => need)

export const needsShow = defineCommand({
  name: 'needs show',
  summary: 'show one thing that waits for you, with the answers that you can give',
  example: 'needs show need-1a2b3c',
  runsIn: 'any_process',
  needs: ['clock', 'notifier', 'store'],
  positional: ['id'],
  input: z.object({ id: idInput, language: languageInput }),
  output: needSchema,
  run: async (context, { id, language }) =>
    sayNeed(await readNeed(context, id), language ?? context.notifier.language()),
})

export const needsAnswer = defineCommand({
  name: 'needs answer',
  summary: 'answer something that waits for you: does what the choice says',
  example: 'needs answer need-1a2b3c seen',
  runsIn: 'any_process',
  needs: ['clock', 'notifier', 'runCommand', 'store'],
  positional: ['id', 'choice', 'words'],
  input: z.object({
    id: idInput,
    choice: z.string().min(1).describe('id of a choice, from needs show'),
    words: z.string().trim().min(1).optional().describe('your words, if the choice takes some'),
    language: languageInput,
  }),
  output: needSchema.extend({ done: typedAs<Json>(z.unknown()).describe('what the command of the choice returned') }),
  async run(context, { id, choice: chosen, words, language = context.notifier.language() }) {
    const { store, clock } = context
    const need = await readNeed(context, id)
    const choice = findChoice(need, chosen, words)
    if (need.status !== 'open')
      throw new TirelessError('conflict', {
        what: 'this no longer waits for an answer',
        got: `${id}, which is ${need.status}`,
        expected: 'one that is open',
        fix: 'list what waits: tireless needs list',
      })
    const { command } = choice
    const done = command === null ? null : await context.runCommand(command.name, inputOf(command, words))
    const stored = await store.need(id)
    // The command may have ended the need itself.
    if (stored?.status === 'open')
      await commitOne(store, [
        { op: 'need_answer', id, answer: { choice: choice.id, words: words ?? null }, now: clock.now() },
      ])
    const answered: Need = { ...need, status: 'answered', answer: { choice: choice.id, words: words ?? null } }
    return { ...sayNeed((await store.need(id)) ?? answered, language), done: done as Json }
  },
})

async function readNeed(context: Context, id: string): Promise<Need> {
  const found = await findNeed(sourcesOf(context), id)
  if (found) return found
  throw new TirelessError('not_found', {
    what: 'nothing with this id waits for you',
    got: id,
    fix: 'run tireless needs list',
  })
}

function findChoice({ choices }: Need, id: string, words: string | undefined): NeedChoice {
  const found = choices.find((choice) => choice.id === id)
  const refuse = (what: string): TirelessError =>
    new TirelessError('usage', {
      what,
      got: id,
      expected: choices.map((choice) => choice.id).join(', '),
      fix: 'see what each choice does: tireless needs show ID',
    })
  if (!found) throw refuse('no such choice')
  const taken = found.command?.words
  if (taken === undefined && words !== undefined) throw refuse('this choice takes no words')
  if (taken?.required && words === undefined) throw refuse('this choice needs your words')
  return found
}

function inputOf(command: NeedCommand, words: string | undefined): NeedCommand['input'] {
  return command.words === undefined || words === undefined
    ? command.input
    : { ...command.input, [command.words.key]: words }
}

function sayNeed(need: Need, language: Language): z.output<typeof needSchema> {
  const say = ({ text, zh }: PeopleText): string => (language === 'zh' ? (zh ?? text) : text)
  return {
    ...need,
    because: need.because === null ? null : { ...need.because },
    answer: need.answer === null ? null : { ...need.answer },
    after_expiry: need.after_expiry === null ? null : say(need.after_expiry),
    title: say(need.title),
    body: say(need.body),
    choices: need.choices.map(({ id, text, does, command }) => {
      return {
        id,
        text: say(text),
        does: say(does),
        words: command?.words === undefined ? 'none' : command.words.required ? 'required' : 'optional',
      } as const
    }),
  }
}
