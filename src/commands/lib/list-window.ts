/** Inputs and outputs of lists that are read part by part. */

import { z } from 'zod'

export const offsetInput = z.int().nonnegative().default(0).describe('how many to leave out at the start of the list')

export const totalShape = z.number().describe('how many the whole list has')

/** `what`: where it is searched. */
export const searchInput = (what: string) =>
  z.string().trim().max(200).optional().describe(`only with this text in ${what}`)
