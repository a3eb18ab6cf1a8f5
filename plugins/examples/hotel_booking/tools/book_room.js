// Adds a room to the reservations of the user. The id of a booking is its number.
const rooms = (await memory.get_content('reservations'))?.rooms ?? [];
const room = { id: `B${rooms.length + 1}`, hotel: $hotel, checkin: $checkin, checkout: $checkout };
await memory.set_content('reservations', { rooms: [...rooms, room] });
return room;
