/** Opens the page of the running kernel in a browser. */

import { z } from 'zod'
import { TirelessError } from '../domain/error.ts'
import { defineCommand } from './lib/command.ts'

export const open = defineCommand({
  name: 'open',
  summary: 'open the page of the running kernel in your browser, logged in',
  example: 'open',
  runsIn: 'kernel',
  needs: ['pageAddress', 'serveHttp'],
  opensPage: true,
  input: z.object({}),
  output: z.object({
    page: z.string().describe('address of the page'),
    login_url: z.string().describe('link that logs one browser in, once and within minutes'),
    opened: z.boolean().describe('false: there was no terminal or no browser; open the link yourself'),
  }),
  async run({ pageAddress, serveHttp }) {
    // Without this check, a short command that holds the home would begin to serve the page.
    if (pageAddress() === undefined)
      throw new TirelessError('not_found', { what: 'the page is not served now', fix: 'run tireless start' })
    const { url, login_url } = await serveHttp({ expose: true })
    return { page: url, login_url, opened: false }
  },
})
