// Finds the hotels of a city in a fixed list. A real tool would have a larger one.
const hotels = [
  { name: 'Harbour Inn', city: 'Lisbon', price: 120, rating: 4.1, status: 'open' },
  { name: 'Grand Plaza', city: 'Lisbon', price: 310, rating: 4.8, status: 'open' },
  { name: 'Casa Azul', city: 'Lisbon', price: 95, rating: 4.4, status: 'open' },
  { name: 'Old Mill', city: 'Lisbon', price: 80, rating: 3.2, status: 'closed' },
  { name: 'Alpine Rest', city: 'Zurich', price: 190, rating: 4.6, status: 'open' },
];
const days = (Date.parse($checkout_date) - Date.parse($checkin_date)) / 86400000;
return {
  nights: days,
  hotels: hotels.filter((hotel) => hotel.city.toLowerCase() === $destination.toLowerCase()),
};
