/** The built-in text protocols. */

import type { Parser } from '../../ports/parser.ts'
import { jsonParser } from './json.ts'
import { reactParser } from './react.ts'
import { xmlParser } from './xml.ts'

export const PARSERS: readonly Parser[] = [jsonParser(), reactParser(), xmlParser()]
