/** Whether the owner has put a failure aside. */

import { z } from 'zod'

export const dismissedShape = z.boolean().describe('it failed, and the owner has put the failure aside')
