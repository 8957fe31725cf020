/** Owner note: a problem or fact that the owner must learn about, apart from cycle results. */

import type { PeopleText } from './language.ts'

export interface OwnerNote extends PeopleText {
  /** Identifies the topic, whatever the text says: each topic is reported once. */
  readonly about: string
}
