/** Values that can be journalled. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
