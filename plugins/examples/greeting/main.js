// The platform stores data about the user in the session's metadata, which tools can only read. The
// projection selects two fields of the metadata.
const meta = await memory.get_content('sessionMeta', { 'metadata.userName': 1, 'metadata.customerTier': 1 });
const { userName, customerTier } = meta?.metadata ?? {};

const thanks = customerTier === 'gold' ? ' Thank you for being a gold customer.' : '';
return { greeting: `Hello ${userName ?? 'there'}!${thanks}` };
