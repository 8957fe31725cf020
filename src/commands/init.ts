/** Creates a home: configuration, agents, the detected model, and a cost forecast. */

import { z } from 'zod'
import { isOnCall } from '../domain/agent.ts'
import type { PricedModel } from './lib/closed-home.ts'
import { defineCommand } from './lib/command.ts'
import { forecastDay } from './lib/forecast.ts'

const forecastShape = z.object({
  model: z.string(),
  /** Expected cost of a day in US dollars; null: the price of the model is unknown. */
  day_usd: z.number().nullable(),
  items: z.array(
    z.object({
      agent_id: z.string(),
      runs: z.number(),
      guessed: z.boolean().describe('runs only on changes, so the number of runs is a guess'),
      usd: z.number().nullable(),
    }),
  ),
})

export const init = defineCommand({
  name: 'init',
  summary: 'create a home with a configuration, three agents and a folder to watch; changes no existing file',
  example: 'init --yes',
  runsIn: 'no_home',
  needs: ['clock', 'homeSetup', 'machine'],
  confirmation: { text: 'Create a home here?', zh: '在这里创建目录吗？' },
  input: z.object({
    yes: z.boolean().default(false).describe('do not ask for confirmation').meta({ short: 'y' }),
    here: z.string().optional().describe('folder whose git work tree is watched').meta({ path: true, here: true }),
  }),
  output: z.object({
    home: z.string(),
    wrote: z.array(z.string()),
    kept: z.array(z.string()),
    model: z.object({ id: z.string(), why: z.string() }),
    agents: z.array(z.object({ agent_id: z.string(), enabled: z.boolean(), on_call: z.boolean() })),
    forecast: z
      .array(forecastShape)
      .describe('cost of a day with this model; if it is free, also with a well-known paid one'),
    next: z.string(),
  }),
  async run({ clock, machine, homeSetup: starter }, { here }) {
    const repository = here === undefined ? undefined : await machine.workTreeAt(here)
    const { wrote, kept } = starter.scaffold(repository)
    const { own, paid } = await starter.modelPrices()
    const settings = starter.settings()
    const forecast = ({ id, price }: PricedModel): z.input<typeof forecastShape> => {
      const items = forecastDay(settings, price, clock.now())
      const day_usd = price && items.reduce((sum, { usd }) => sum + (usd ?? 0), 0)
      return { model: id, day_usd, items: items.map((item) => ({ ...item })) }
    }
    return {
      ...{ home: starter.home, wrote: [...wrote], kept: [...kept] },
      model: { id: own.id, why: own.why },
      agents: settings.agents.map((agent) => ({
        ...{ agent_id: agent.agent_id, enabled: agent.enabled, on_call: isOnCall(agent) },
      })),
      forecast: [forecast(own), ...(isFree(own) ? [forecast(paid)] : [])],
      next: 'tireless start',
    }
  },
})

const isFree = ({ price }: PricedModel): boolean => price !== null && price.input + price.output === 0
