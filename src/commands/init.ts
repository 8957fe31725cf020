/** A home to begin with: configuration, agents, the model that there is, what a day will cost. */

import { z } from 'zod'
import { command } from './command.ts'
import { forecastDay } from './forecast.ts'
import type { Prospect } from './outside.ts'

const forecastShape = z.object({
  model: z.string(),
  /** Null: no price is known of the model. */
  day_usd: z.number().nullable(),
  items: z.array(
    z.object({
      agent_id: z.string(),
      runs: z.number(),
      guessed: z.boolean().describe('it runs when something is new: how often that is, is a guess'),
      usd: z.number().nullable(),
    }),
  ),
})

export const init = command({
  name: 'init',
  summary: 'write a working home: configuration, three agents, a folder to be tended; changes nothing that is there',
  runsIn: 'no_home',
  consent: 'Write a home there?',
  input: z.object({
    yes: z.boolean().default(false).describe('ask nothing').meta({ short: 'y' }),
    here: z.string().optional().describe('watch the git work tree of this folder').meta({ path: true, here: true }),
  }),
  output: z.object({
    home: z.string(),
    wrote: z.array(z.string()),
    kept: z.array(z.string()),
    model: z.object({ id: z.string(), why: z.string() }),
    agents: z.array(z.object({ agent_id: z.string(), enabled: z.boolean() })),
    forecast: z.array(forecastShape).describe('a day with the model, and with a well-known one where that is free'),
    next: z.string(),
  }),
  async run({ clock, machine, starter }, { here }) {
    const repository = here === undefined ? undefined : await machine.workTreeAt(here)
    const { wrote, kept } = starter.furnish(repository)
    const { own, paid } = await starter.prospects()
    const settings = starter.settings()
    const forecast = ({ id, price }: Prospect): z.input<typeof forecastShape> => {
      const items = forecastDay(settings, price, clock.now())
      const day_usd = price && items.reduce((sum, { usd }) => sum + (usd ?? 0), 0)
      return { model: id, day_usd, items: items.map((item) => ({ ...item })) }
    }
    return {
      ...{ home: starter.home, wrote: [...wrote], kept: [...kept] },
      model: { id: own.id, why: own.why },
      agents: settings.agents.map(({ agent_id, enabled }) => ({ agent_id, enabled })),
      forecast: [forecast(own), ...(isFree(own) ? [forecast(paid)] : [])],
      next: 'tireless start',
    }
  },
})

const isFree = ({ price }: Prospect): boolean => price !== null && price.input + price.output === 0
