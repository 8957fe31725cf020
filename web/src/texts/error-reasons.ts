/** Why runs fail, in the language of the page. */

import type { Language } from '../format.ts'
import { explainError } from './errors.ts'

/** Contract: what went wrong, without the code of the program. */
export const describeError = (error: string, language: Language): string => explainError(error, language)
